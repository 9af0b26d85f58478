"""moat licenses: lists the components of Moat and their licences."""

import sys
from dataclasses import asdict
from typing import Any

from server.commands import say_json
from server.system import licenses


def add_to(commands: Any) -> None:
    one = commands.add_parser("licenses", help="list the components of Moat and their licences")
    one.add_argument("name", nargs="?", help="show the text of this one")
    one.add_argument("--json", action="store_true", help="for scripts")
    one.set_defaults(run=lambda options: show(options.name, as_json=options.json))


def show(name: str | None, *, as_json: bool = False) -> int:
    found = licenses.find()
    wanted = [part for part in found if name is None or part.name.lower() == name.lower()]
    if as_json:
        say_json([asdict(part) for part in wanted])
        return 0 if wanted else 1
    if name is None:
        sys.stdout.write(licenses.table(found) + "\n\nmoat licenses NAME shows the text.\n")
        return 0
    if not wanted:
        sys.stderr.write(f"There is nothing named {name} in Moat. See: moat licenses\n")
        return 1
    one = wanted[0]
    text = one.text or "Its package carries no text of the licence."
    sys.stdout.write(f"{one.title}: {one.licence}\n\n{text}\n")
    return 0
