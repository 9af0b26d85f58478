"""What the control link asks of the core: to end, a proof of being its own, files as text."""

import asyncio
import csv
import hmac
import io
import secrets
from pathlib import Path

from server.data import documents
from server.data.tables import Table
from server.errors import BadRequest
from server.face.core import FileText
from server.observe import Signal


def new_own_key() -> str:
    """Another one each time the core is opened."""
    return secrets.token_urlsafe(32)


class Windowed:
    own_secret: str
    asked_to_quit: Signal[str]

    async def quit(self) -> None:
        self.asked_to_quit.emit("moat quit")

    async def own_key(self) -> str:
        """Told over the link only: what carries it comes from the person's own window."""
        return self.own_secret

    def is_own(self, sent: str) -> bool:
        given = sent.encode("utf-8", "surrogateescape")
        return hmac.compare_digest(given, self.own_secret.encode())

    async def read_document(self, path: str) -> FileText:
        return await asyncio.to_thread(_read, Path(path))


def _read(path: Path) -> FileText:
    try:
        if path.stat().st_size > documents.MAX_BYTES:
            raise BadRequest(f"{path.name} is too big to read.", "path")
        found = documents.read(path.read_bytes(), path.name)
    except OSError as error:
        raise BadRequest(f"{path.name} could not be read: {error.strerror}.", "path") from None
    except documents.Unreadable as error:
        raise BadRequest(str(error), "path") from None
    parts = [page for page in found.pages if page.strip()]
    parts += [_csv(table) for table in found.tables]
    return FileText(path.name, "\n\n".join(parts), found.notes)


def _csv(table: Table) -> str:
    held = io.StringIO()
    writer = csv.writer(held, lineterminator="\n")
    writer.writerow([column.name for column in table.columns])
    writer.writerows(table.rows)
    return held.getvalue().rstrip()
