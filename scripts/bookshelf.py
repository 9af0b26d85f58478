"""The example server of the bookshelf plugin: a few books over HTTP on this computer.

python -m scripts.bookshelf [PORT]
"""

import json
import secrets
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

PORT = 8905
BOOKS: dict[int, dict[str, Any]] = {
    1: {"id": 1, "title": "Middlemarch", "author": "George Eliot", "year": 1871},
    2: {"id": 2, "title": "Fictions", "author": "Jorge Luis Borges", "year": 1944},
}


class Shelf(BaseHTTPRequestHandler):
    key = ""

    def do_GET(self) -> None:
        if self._is_allowed() and urlsplit(self.path).path == "/books":
            asked = parse_qs(urlsplit(self.path).query).get("author", [""])[0].lower()
            found = [book for book in BOOKS.values() if asked in book["author"].lower()]
            self._answer(200, found)
        else:
            self._answer(404, {"error": "There is nothing here."})

    def do_POST(self) -> None:
        if not self._is_allowed():
            return
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = self.path.strip("/").split("/")
        if parts == ["books"]:
            number = max(BOOKS, default=0) + 1
            BOOKS[number] = {"id": number, **json.loads(body)}
            self._answer(201, BOOKS[number])
        elif len(parts) == 3 and parts[1].isdigit() and int(parts[1]) in BOOKS:
            del BOOKS[int(parts[1])]
            self._answer(204, None)
        else:
            self._answer(404, {"error": "There is no such book."})

    def _is_allowed(self) -> bool:
        if self.headers.get("X-Shelf-Key") == self.key:
            return True
        self._answer(401, {"error": "The key is wrong."})
        return False

    def _answer(self, status: int, body: Any) -> None:
        raw = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)


def main() -> None:
    port = int(sys.argv[1]) if len(sys.argv) > 1 else PORT
    Shelf.key = secrets.token_hex(8)
    sys.stdout.write(f"Books on http://127.0.0.1:{port}, key {Shelf.key}\n")
    sys.stdout.flush()
    ThreadingHTTPServer(("127.0.0.1", port), Shelf).serve_forever()


if __name__ == "__main__":
    main()
