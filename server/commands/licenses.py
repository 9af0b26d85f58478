"""moat licenses: list the components of Moat and their licences."""

import sys
from typing import Any

from server.system import licenses


def add_to(commands: Any) -> None:
    one = commands.add_parser("licenses", help="list the components of Moat and their licences")
    one.add_argument("name", nargs="?", help="show the text of this one")
    one.set_defaults(run=lambda options: show(options.name))


def show(name: str | None) -> int:
    components = licenses.find()
    if name is None:
        sys.stdout.write(licenses.table(components) + "\n\nmoat licenses NAME shows the text.\n")
        return 0
    wanted = [one for one in components if one.name.lower() == name.lower()]
    if not wanted:
        sys.stderr.write(f"There is nothing named {name} in Moat. See: moat licenses\n")
        return 1
    one = wanted[0]
    text = one.text or "Its package carries no text of the licence."
    sys.stdout.write(f"{one.title}: {one.licence}\n\n{text}\n")
    return 0
