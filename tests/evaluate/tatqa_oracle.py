"""A model that is never wrong about a question of TAT-QA: it shows what the code prevents.

The oracle knows the answer and how the data set derives it: (680-774)/774. It finds each number in
the table that the messages show, and writes a query over those cells. Its answer has the query's
value as a placeholder. A year or another text that no cell holds is written as it is.
"""

import json
import re
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from server.chat import ChatRequest
from server.language.ranking import stems
from tests.evaluate.oracle import IGNORANT, Asked, Oracle, answer_small, forms_of

Json = dict[str, Any]
TABLE = re.compile(
    r"^table (\w+), \d+ rows?, columns:\n((?: {2}.*\n)+)(?:all|some) rows:\n(.*?)"
    r"(?=^</data>|^Question: |^table |\Z)",
    re.MULTILINE | re.DOTALL,
)
COLUMN = re.compile(r"^ {2}(\w+) \((\w+)", re.MULTILINE)
TOKEN = re.compile(r"[$€£¥]?\s?(\d[\d,]*(?:\.\d+)?|\.\d+)\s?%?|[-+*/()]")
WRITTEN_AS = str.maketrans("[]{}×x÷–−", "()()**/--")  # noqa: RUF001
AMOUNT = re.compile(r"[($\s]*-?[($€£¥\s]*(\d[\d,]*(?:\.\d+)?)[)%\s]*")
NAMED = re.compile(r"\b(q\d+) \(value")
YEAR = re.compile(r"\b(?:19|20)\d\d\b")
SCALES = ("thousand", "million", "billion")
CUT = "…"
USED = 1.5
"""A cell that another number stands for already is so much less likely."""


@dataclass(frozen=True)
class Question:
    text: str
    kind: str
    answers: tuple[str, ...]
    scale: str
    table: list[list[str]]
    derivation: str = ""


@dataclass(frozen=True)
class Cell:
    """A cell of a table that the model is shown, and the row that it stands in."""

    table: str
    column: str
    kind: str
    text: str
    row: tuple[tuple[str, str, str], ...]
    """The name, kind and text of each cell of the row."""
    twins: int
    """The number of rows with the same name."""

    @property
    def amount(self) -> float | None:
        return _amount(self.text)

    @property
    def name(self) -> str:
        return self.row[0][2]

    @property
    def condition(self) -> str:
        """Selects the row: by its name, and by this cell if other rows have the same name."""
        own = (self.column, self.kind, self.text)
        return " AND ".join(_is(*one) for one in [self.row[0], own][: 1 + (self.twins > 1)])

    @property
    def magnitude(self) -> str:
        """Returns SQL for the cell's number without its sign. A text is cleaned of its signs."""
        if self.kind == "number":
            return f"(-{self.column})" if (self.amount or 0) < 0 else self.column
        plain = self.column
        for sign in (one for one in "($€£¥,-" if one in self.text):
            plain = f"REPLACE({plain}, '{sign}', '')"
        return f"CAST({plain} AS REAL)"


def _amount(text: str) -> float | None:
    found = AMOUNT.fullmatch(text)
    if found is None:
        return None
    is_negative = "-" in text or text.lstrip("$ ").startswith("(")
    return float(found[1].replace(",", "")) * (-1 if is_negative else 1)


def _is_figure(text: str) -> bool:
    """Whether a text is an amount that a query has to give. A year is a word."""
    return _amount(text) is not None and not YEAR.fullmatch(text.strip())


def _is(column: str, kind: str, text: str) -> str:
    if not text:
        return f"{column} IS NULL"
    if kind == "number":
        return f"{column} = {text}"
    quoted = text.replace("'", "''")
    return f"{column} LIKE '{quoted[:-1]}%'" if text.endswith(CUT) else f"{column} = '{quoted}'"


def cells_in(text: str) -> list[Cell]:
    """Returns the cells of all tables whose rows are in the text."""
    found: dict[tuple[str, int, str], Cell] = {}
    for name, head, body in TABLE.findall(text):
        columns = COLUMN.findall(head)
        lines = [line for line in body.split("\n") if line.count(", ") >= len(columns) - 1]
        rows = [line.rsplit(", ", len(columns) - 1) for line in lines]
        names = [row[0] for row in rows]
        for place, row in enumerate(rows):
            whole = tuple((*one, cell) for one, cell in zip(columns, row, strict=True))
            for column, kind, cell in whole:
                twins = names.count(row[0])
                found[name, place, column] = Cell(name, column, kind, cell, whole, twins)
    return list(found.values())


@dataclass
class Solution:
    """What answers a question, in the tables that the messages show."""

    question: Question
    cells: list[Cell]

    def sql(self) -> str:
        """Returns the query that gives the answer, or else the row that it can be seen in."""
        if self.question.kind == "arithmetic":
            return self._arithmetic()
        if self.question.kind == "count":
            return self._count()
        picked = [self._of_text(one) for one in self.question.answers]
        if picked and all(picked):
            places = [(one, one.column) for one in picked if one]
            return _select([(f"{{{at}}}", f"value_{at + 1}") for at in range(len(places))], places)
        return self._row()

    def prose(self, query: str) -> str:
        """Returns the answer, with placeholders for the values of the query of this name.

        Without a query it has only words, years and counts.
        """
        unit = "%" if self.question.scale == "percent" else ""
        unit = f" {self.question.scale}" if self.question.scale in SCALES else unit
        answers, is_one = self.question.answers, self.question.kind in ("arithmetic", "count")
        names = [f"value_{at}" for at in range(1, len(answers) + 1)]
        if query and f" AS {'value' if is_one else names[-1]}" in self.sql():
            names = ["value"] if is_one else names
            signs = [self._sign(one) if not is_one and not unit else "" for one in answers]
            answers = tuple(
                f"{{{{{query}.{name}}}}}{sign}" for name, sign in zip(names, signs, strict=True)
            )
        elif self.question.kind != "count" and any(map(_is_figure, answers)):
            return IGNORANT
        return "; ".join(f"{one}{unit}" for one in answers)

    def _sign(self, answer: str) -> str:
        """Returns the percent sign of an answer, if its cell is a number and has none itself."""
        cell = self._of_text(answer)
        return "%" if cell and cell.kind == "number" and answer.strip().endswith("%") else ""

    def _arithmetic(self) -> str:
        """Returns the derivation with a cell for each number, in the form that gives the answer."""
        for tokens in _readings(self.question):
            places: list[tuple[Cell, str]] = []
            parts = [self._part(tokens, at, places) for at in range(len(tokens))]
            if places:
                return _select([(" ".join(parts), "value")], places)
        return self._row()

    def _part(self, tokens: list[str], at: int, places: list[tuple[Cell, str]]) -> str:
        """Returns the token, or the place of the cell that a number stands for.

        The number of operands by which a sum is divided, 100 and a last 1 are no cells.
        """
        number, before = tokens[at], tokens[at - 1] if at else ""
        if not number[0].isdigit():
            return number
        is_last_one = number == "1.0" and before == "-" and at == len(tokens) - 1
        operands = sum(one[0].isdigit() for one in tokens[:at])
        is_divisor = before == "/" and float(number) in (operands, 100.0)
        is_factor = number == "100.0" and "*" in (before, *tokens[at + 1 : at + 2])
        if is_last_one or is_divisor or is_factor:
            return number
        used = [cell for cell, _ in places] if before != "/" else []
        cell = self._of_number(float(number), used)
        if cell is None:
            return number
        places.append((cell, cell.magnitude))
        return f"{{{len(places) - 1}}}"

    def _count(self) -> str:
        named = dict.fromkeys(map(_plain, self.question.derivation.split("##")))
        rows = {cell.name: cell for cell in self.cells if _plain(cell.name) in named}
        if len(rows) != len(named):
            return self._row()
        tests = " OR ".join(cell.condition for cell in rows.values())
        return f"SELECT COUNT(*) AS value FROM {self.cells[0].table} WHERE {tests}"

    def _row(self) -> str:
        """Returns a query for the whole row that the question speaks of."""
        best = max(self.cells, key=lambda cell: self._fitness(cell, ()), default=None)
        return f"SELECT * FROM {best.table} WHERE {best.condition}" if best else ""

    def _of_number(self, number: float, used: list[Cell]) -> Cell | None:
        same = [one for one in self.cells if one.amount is not None and abs(one.amount) == number]
        return max(same, key=lambda cell: self._fitness(cell, used), default=None)

    def _of_text(self, text: str) -> Cell | None:
        """Returns the cell with the answer. A year stands in a header, which no query gives."""
        wanted = _amount(text)
        if wanted is not None and _is_figure(text):
            same = [one for one in self.cells if one.amount == wanted]
            same = same or [one for one in self.cells if one.amount == -wanted]
        else:
            same = [one for one in self.cells if _plain(one.text) == _plain(text) != ""]
        return max(same, key=lambda cell: self._fitness(cell, ()), default=None)

    def _fitness(self, cell: Cell, used: Sequence[Cell]) -> float:
        """Returns how well the names of the row and the column fit the question."""
        asked = set(stems(self.question.text))
        row, column = set(stems(cell.name)), set(stems(cell.column))
        years = set(YEAR.findall(cell.column.replace("_", " ").replace("y", " ")))
        is_of_year = bool(years & set(YEAR.findall(self.question.text)))
        shared = 2 * len(row & asked) / (len(row) + len(asked) or 1)
        in_column = 0.1 * len(column & asked) / (len(column) or 1)
        return 2 * shared + in_column + 0.3 * is_of_year - USED * (cell in used)


def _plain(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.lower()))


def _select(columns: list[tuple[str, str]], places: list[tuple[Cell, str]]) -> str:
    """Returns a query. In the form of a column, {0} stands for the first place's cell."""
    rows = {(cell.table, cell.row) for cell, _ in places}
    first = places[0][0]
    if len(rows) == 1:
        found = [f"{form.format(*(sql for _, sql in places))} AS {name}" for form, name in columns]
        return f"SELECT {', '.join(found)} FROM {first.table} WHERE {first.condition}"
    inner = [f"(SELECT {sql} FROM {cell.table} WHERE {cell.condition})" for cell, sql in places]
    return "SELECT " + ", ".join(f"{form.format(*inner)} AS {name}" for form, name in columns)


def _readings(question: Question) -> Iterator[list[str]]:
    """Yields the derivation as tokens, in the forms that give the answer, then as it is.

    (71) may be a negative number, and a percentage may lack its factor.
    """
    text = question.derivation.partition("=")[0].translate(WRITTEN_AS)
    plain = [f"{float(one[1].replace(',', ''))}" if one[1] else one[0]
             for one in TOKEN.finditer(text)]  # fmt: skip
    negated = re.sub(r"\( ([\d.]+) \)", r"( - \1 )", " ".join(plain)).split()
    for tokens in (plain, negated):
        for form in (tokens, ["100.0", "*", "(", *tokens, ")"]):
            if _gives(form, question.answers[0]):
                yield form
    yield plain


def _gives(tokens: list[str], answer: str) -> bool:
    decimals = len(answer.strip("%) ").partition(".")[2])
    try:
        ((value,),) = sqlite3.connect(":memory:").execute(f"SELECT {' '.join(tokens)}")
        wanted = float(answer.replace(",", "").strip("$% "))
    except (sqlite3.Error, ValueError):
        return False
    return value is not None and abs(value - wanted) <= 0.5000001 * 10**-decimals


class TableOracle(Oracle):
    """An engine that knows the answer to one question of TAT-QA."""

    def __init__(self, question: Question) -> None:
        super().__init__()
        self._question = question

    def answer(self, request: ChatRequest) -> str:
        asked = Asked(None, tuple(request.messages), 0)
        solution = Solution(self._question, cells_in(f"{asked.told}\n"))
        done = [(action["query"], result) for action, result in asked.done() if "query" in action]
        if request.constraint is None:
            return solution.prose(_name_of(done))
        forms = forms_of(schema := json.loads(request.constraint.source))
        if "sql" in forms:
            return json.dumps({"sql": solution.sql()})
        if "answer" not in forms:
            return json.dumps(answer_small(asked, schema))
        is_open = "query" in forms and not done and solution.sql()
        return json.dumps({"query": solution.sql()} if is_open else {"answer": True})


def _name_of(done: list[tuple[Any, str]]) -> str:
    """Returns the name of the last result with a column of the oracle's own."""
    found = [match[1] for _, result in done if (match := NAMED.search(result))]
    return found[-1] if found else ""
