"""Announces a new version, and the support for graphics cards that belongs to its engine.

python -m scripts.package.announce new-key FILE | sign FILE PAGE | graphics FILE
"""

import argparse
import base64
import json
import os
import re
import sys
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from scripts.bootstrap import places
from scripts.package import product, sums
from server.core import graphics, updates
from server.core.updates import PREFIX, read_signed
from server.errors import AppError


def main() -> int:
    parser = argparse.ArgumentParser(prog="announce", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    one = commands.add_parser("new-key", help="make a key; prints its public half")
    one.add_argument("file", type=Path)
    one.set_defaults(run=lambda options: new_key(options.file))
    one = commands.add_parser("sign", help="announce the version of this clone")
    one.add_argument("file", type=Path, help="the secret key")
    one.add_argument("page", help="where people get it; https only")
    one.add_argument("--notes", default="", help="what is new, in a sentence or two")
    one.set_defaults(run=lambda options: sign(options.file, options.page, options.notes))
    one = commands.add_parser("graphics", help="sign the list of the archives for graphics cards")
    one.add_argument("file", type=Path, help="the secret key")
    one.add_argument(
        "--measured",
        nargs=3,
        action="append",
        default=[],
        metavar=("KIND", "TIMES", "CARD"),
        help="how many times as fast as Vulkan it was, and on which card",
    )
    one.set_defaults(run=lambda options: list_graphics(options.file, options.measured))
    options = parser.parse_args()
    sys.stdout.write(options.run(options) + "\n")
    return 0


def new_key(path: Path) -> str:
    """Writes a new secret key, readable only by its owner, and returns the public key.

    Raises `FileExistsError` instead of overwriting a key.
    """
    secret = Ed25519PrivateKey.generate()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(base64.b64encode(secret.private_bytes_raw()) + b"\n")
    return _public(secret)


def sign(path: Path, page: str, notes: str) -> str:
    secret = _read_key(path)
    # Files of earlier versions are not announced.
    finished = sorted(product.FINISHED.glob(f"*[-_]{product.VERSION}[-_.]*"))
    told = {
        "version": product.VERSION,
        "page": page,
        "notes": notes,
        "files": {file.name: sums.digest(file) for file in finished if file.is_file()},
    }
    text = json.dumps(told, ensure_ascii=False)
    signed = _sign(secret, PREFIX, text)
    try:
        updates.read(signed.encode(), _public(secret))
    except AppError as refusal:
        sys.exit(f"No Moat would believe this announcement: {refusal} Is the page https?")
    return signed


ARCHIVE = re.compile(
    rf"{product.NAME}-backend-(?P<kind>[a-z]+)-{re.escape(product.VERSION)}"
    r"-(?P<system>[a-z0-9]+)-(?P<machine>\w+)\.tar\.xz"
)


def list_graphics(path: Path, measured: list[list[str]]) -> str:
    """Writes the signed list beside the archives of `make package-graphics`; returns its path."""
    secret, engine = _read_key(path), places.engine_version()
    figures = {kind: (float(times), card) for kind, times, card in measured}
    files = []
    for file in sorted(product.FINISHED.iterdir()):
        if found := ARCHIVE.fullmatch(file.name):
            times, card = figures.get(found["kind"], (0.0, ""))
            files.append(
                {
                    **found.groupdict(),
                    "name": file.name,
                    "size_bytes": file.stat().st_size,
                    "sha256": sums.digest(file),
                    "times_vulkan": times,
                    "measured_on": card,
                }
            )
    if not files:
        sys.exit(f"No archive for graphics cards is in {product.FINISHED}: make package-graphics")
    text = json.dumps({"engine": engine, "files": files}, ensure_ascii=False)
    signed = _sign(secret, graphics.PREFIX, text)
    read_signed(signed.encode(), _public(secret), graphics.PREFIX, graphics.GraphicsList)
    made = product.FINISHED / graphics.list_name(engine)
    made.write_text(signed + "\n", encoding="utf-8")
    return str(made)


def _read_key(path: Path) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(base64.b64decode(path.read_bytes()))


def _sign(secret: Ed25519PrivateKey, prefix: bytes, text: str) -> str:
    mark = base64.b64encode(secret.sign(prefix + text.encode())).decode()
    return json.dumps({"announcement": text, "signature": mark}, ensure_ascii=False, indent=1)


def _public(secret: Ed25519PrivateKey) -> str:
    return base64.b64encode(
        secret.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    ).decode()


if __name__ == "__main__":
    sys.exit(main())
