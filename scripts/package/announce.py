"""Announces a new version: python -m scripts.package.announce new-key FILE | sign FILE PAGE."""

import argparse
import base64
import json
import os
import sys
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from scripts.package import product, sums
from server.core import updates
from server.core.updates import PREFIX
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
    options = parser.parse_args()
    sys.stdout.write(options.run(options) + "\n")
    return 0


def new_key(path: Path) -> str:
    """The public half. The secret one is written for its owner only, and never over another."""
    secret = Ed25519PrivateKey.generate()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(base64.b64encode(secret.private_bytes_raw()) + b"\n")
    return _public(secret)


def sign(path: Path, page: str, notes: str) -> str:
    secret = Ed25519PrivateKey.from_private_bytes(base64.b64decode(path.read_bytes()))
    # What an earlier version left there is not vouched for.
    finished = sorted(product.FINISHED.glob(f"*[-_]{product.VERSION}[-_.]*"))
    told = {
        "version": product.VERSION,
        "page": page,
        "notes": notes,
        "files": {file.name: sums.digest(file) for file in finished if file.is_file()},
    }
    text = json.dumps(told, ensure_ascii=False)
    mark = base64.b64encode(secret.sign(PREFIX + text.encode())).decode()
    signed = json.dumps({"announcement": text, "signature": mark}, ensure_ascii=False, indent=1)
    try:
        updates.read(signed.encode(), _public(secret))
    except AppError as refusal:
        sys.exit(f"No Moat would believe this announcement: {refusal} Is the page https?")
    return signed


def _public(secret: Ed25519PrivateKey) -> str:
    return base64.b64encode(
        secret.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    ).decode()


if __name__ == "__main__":
    sys.exit(main())
