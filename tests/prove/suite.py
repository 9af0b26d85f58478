"""The whole proof: one list of rows, and the rows that do not apply."""

from string import ascii_lowercase

from tests.prove import (
    answers,
    audit,
    bodies,
    disk,
    egress,
    faults,
    figures,
    fuzz,
    gate,
    growing,
    laggards,
    load,
    models,
    patterns,
    secrets,
    shown,
    soak,
    start,
    tls,
    walls,
)
from tests.prove.rows import NotOurs, Row


def _place(key: str) -> tuple[int, str]:
    return int(key[1:].rstrip(ascii_lowercase)), key


_GETS_IN = (
    *gate.ROWS,
    *shown.ROWS,
    *models.ROWS,
    *bodies.ROWS,
    *laggards.SENDERS,
    *tls.ROWS,
    *patterns.ROWS,
    *growing.ROWS,
    *walls.ROWS,
)
SECTIONS: tuple[tuple[str, tuple[Row, ...]], ...] = (
    ("Nothing gets in", tuple(sorted(_GETS_IN, key=lambda row: _place(row.key)))),
    ("Nothing gets out", (*secrets.ROWS, *egress.ROWS, *answers.CACHE, *audit.ROWS)),
    (
        "Nothing is lost under load",
        (*load.ROWS, *laggards.ROWS, *start.ROWS, *figures.ROWS, *soak.ROWS, *answers.ROWS),
    ),
    ("Nothing is lost in faults", (*models.READER, *faults.ROWS, *disk.ROWS)),
    ("Nothing odd breaks it", fuzz.ROWS),
)
NOT_OURS: tuple[NotOurs, ...] = (
    NotOurs(
        "S30",
        "caches kept apart by key",
        "There is one access key; whoever has it is one user. That no content crosses is measured.",
    ),
    *audit.NOT_MEASURED,
)
