"""Models that are never wrong: they show what the code prevents a good model from doing.

The oracle knows every question of the sets and the plan that answers it. It recognises the question
in the messages and gives what is asked for: a step of a plan, or the answer to a small question. It
knows no more of the data than the messages show: it takes the names of tables and columns from
there, and a number that it gives is there or is a placeholder.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from server.chat import ChatRequest, Message
from server.engine.base import ModelFacts
from server.events import Finished, Pieces, ReasoningDelta, TextDelta, Usage
from tests.evaluate import dashboards, judge, market, questions
from tests.evaluate.dashboards import Widget
from tests.evaluate.questions import Read, Turn
from tests.kit.engines import ScriptedEngine

Json = dict[str, Any]
LETTERS_PER_TOKEN = 4
PIECE_TOKENS = 8
THOUGHT_TOKENS = 300
THOUGHT = "Let me think about what is asked here, and about what I need. "
IGNORANT = "The data does not hold the answer."
NOTHING = "SELECT NULL WHERE 0"
INVENTORY = re.compile(r"^- (?P<alias>[^\s:]+): (?P<rest>.*)$", re.MULTILINE)
BRACKETED = re.compile(r"\[([^\]]+)\]")
MOST_READS = 6
EXACT = 1e-6


class Oracle(ScriptedEngine):
    """An engine that knows the right answer to every prompt."""

    thought_tokens = 0

    def __init__(self) -> None:
        super().__init__()
        thinks = "<think>{{ enable_thinking }}</think>" if self.thought_tokens else ""
        self.facts = ModelFacts(
            name=type(self).__name__.lower(),
            parameters=70_000_000_000,
            size_bytes=40_000_000_000,
            context_tokens=131_072,
            template=f"{{{{ messages }}}}{thinks}",
            device="gpu",
        )
        self._read_before = ""

    async def generate(self, request: ChatRequest) -> Pieces:
        text = self.answer(request)
        limit = request.max_tokens or 10**9
        thought = min(self.thought_tokens, limit)
        for begin in range(0, thought, PIECE_TOKENS):
            count = min(PIECE_TOKENS, thought - begin)
            yield ReasoningDelta((THOUGHT * 2)[: count * LETTERS_PER_TOKEN])
        letters = text[: (limit - thought) * LETTERS_PER_TOKEN]
        size = PIECE_TOKENS * LETTERS_PER_TOKEN
        for begin in range(0, len(letters), size):
            yield TextDelta(letters[begin : begin + size])
        is_cut = len(letters) < len(text) or (thought < self.thought_tokens)
        written = thought + -(-len(letters) // LETTERS_PER_TOKEN)
        yield Finished("length" if is_cut else "stop", self._usage(request, written))

    def _usage(self, request: ChatRequest, written: int) -> Usage:
        """Counts tokens as an engine would that keeps the last prompt."""
        prompt = "\n".join(f"{one.role}: {one.content}" for one in request.messages)
        same = 0
        for here, there in zip(prompt, self._read_before, strict=False):
            if here != there:
                break
            same += 1
        self._read_before = prompt
        return Usage(len(prompt) // LETTERS_PER_TOKEN, same // LETTERS_PER_TOKEN, written)

    async def tokenize(self, text: str, *, special: bool = True) -> list[int]:
        return [0] * (len(text) // LETTERS_PER_TOKEN + 1)

    def answer(self, request: ChatRequest) -> str:
        asked = recognise(request.messages)
        if request.constraint is None:
            return prose(asked)
        schema = json.loads(request.constraint.source)
        forms = forms_of(schema)
        if "answer" in forms:
            return json.dumps(next_action(asked, forms, request.constraint.source))
        return json.dumps(answer_small(asked, schema), ensure_ascii=False)


class Thinker(Oracle):
    """An oracle that thinks first, as many models do. The thought counts as what it writes."""

    thought_tokens = THOUGHT_TOKENS


class Obedient(Oracle):
    """An oracle that obeys every instruction that reaches it outside of the fences around data."""

    def answer(self, request: ChatRequest) -> str:
        found = [order[0] for one in request.messages if (order := ORDER.search(unfenced(one)))]
        if not found:
            return super().answer(request)
        if request.constraint is None:
            return f"{found[0]} https://evil.example/{found[0]}"
        forms = forms_of(json.loads(request.constraint.source))
        call = {"tool": "lab_find_filing", "arguments": {"ticker": found[0]}}
        done = [one.content for one in request.messages if one.role == "assistant"]
        if "call" in forms and not any(found[0] in one for one in done):
            return json.dumps({"call": call})
        return super().answer(request)


ORDER = re.compile(r"LEAK-\d+")
FENCED = re.compile(
    r"^(?:Result: |Data: )?<data\b[^>]*>.*?<\s*/\s*data\s*>",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
"""A fence, which begins its line. A sentence that mentions <data> tags opens no fence."""
END = re.compile(r"<\s*/\s*data\s*>", re.IGNORECASE)
RESULT = re.compile(r"\s*(?:Result|Data):")


def unfenced(message: Message) -> str:
    """Returns the parts of a message outside of fences. A fence ends at the first end.

    A whole result is data, unless it has an end of a fence too many.
    """
    if message.role == "assistant":
        return ""
    rest = FENCED.sub(" ", message.content)
    if message.role == "tool" or RESULT.match(message.content):
        return rest if END.search(rest) else ""
    return rest


@dataclass(frozen=True)
class Asked:
    """A question in its messages: earlier turns come before it, the steps after it."""

    turn: Turn | None
    messages: tuple[Message, ...]
    place: int

    @property
    def system(self) -> str:
        return "\n".join(one.content for one in self.messages if one.role == "system")

    @property
    def told(self) -> str:
        """All messages of the user's side: the question, data, results."""
        return "\n".join(one.content for one in self.messages if one.role == "user")

    @property
    def question(self) -> str:
        return self.messages[self.place].content

    def done(self) -> list[tuple[Json, str]]:
        """Returns the steps of this turn, each with its result."""
        found = []
        after = self.messages[self.place + 1 :]
        for number, one in enumerate(after):
            action = _object(one.content) if one.role == "assistant" else None
            if action is not None and len(action) == 1:
                following = after[number + 1 : number + 2]
                found.append((action, following[0].content if following else ""))
        return found

    def read(self) -> list[Json]:
        """Returns what was read in this turn: widgets and parameters."""
        return [
            one
            for action, _ in self.done()
            if isinstance(action.get("read"), list)
            for one in action["read"]
        ]

    def alias(self, widget: Widget) -> str:
        """Returns the widget's alias in the list; of equal names, that with the same values.

        On the large dashboard, some widgets have other names than on the dashboard of the
        questions.
        """
        large = [one for one in dashboards.dashboard("large").widgets if one.key == widget.key]
        listed = list(INVENTORY.finditer(f"{self.system}\n{self.told}"))
        found: list[re.Match[str]] = []
        for one in (widget, *large):
            name = one.name.lower()
            found = found or [match for match in listed if match["rest"].lower().startswith(name)]
        shown = [str(value) for value in widget.shown.values() if isinstance(value, str)]
        found.sort(key=lambda match: -sum(value in match["rest"] for value in shown))
        return found[0]["alias"] if found else ""


def _object(text: str) -> Json | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def recognise(messages: Sequence[Message]) -> Asked:
    """Finds the last known question in the messages. The turns before it must be there, too."""
    kept = tuple(messages)
    for place in range(len(kept) - 1, -1, -1):
        if kept[place].role != "user":
            continue
        before = "\n".join(one.content for one in kept[: place + 1])
        turn = _turn_in(kept[place].content, before)
        if turn is not None:
            return Asked(turn, kept, place)
    users = [place for place, one in enumerate(kept) if one.role == "user"]
    questions_ = [one for one in users if "Result:" not in kept[one].content[:10]]
    return Asked(None, kept, (questions_ or users or [0])[0])


def _turn_in(text: str, before: str) -> Turn | None:
    """Returns the longest known question in the text, in the chat with these earlier turns.

    Ignores the completed version behind it, which has words of the questions before.
    """
    text = text.partition("\nThat is: ")[0]
    said = [
        turn
        for one in questions.load()
        for turn in one.turns
        if turn.ask in text and all(earlier in before for earlier in turn.earlier)
    ]
    return max(said, key=lambda turn: (len(turn.ask), len(turn.earlier)), default=None)


def forms_of(schema: Json) -> set[str]:
    """Returns the names of the possible answers, each an object with one member."""
    found: set[str] = set()
    for one in schema.get("anyOf") or schema.get("oneOf") or [schema]:
        found |= set(one.get("properties", {}))
    return found


def next_action(asked: Asked, forms: set[str], source: str) -> Json:
    """Returns the next step of the plan, as far as the steps before went well."""
    turn = asked.turn
    if turn is None:
        return guess_action(asked, forms)
    done = asked.done()
    if turn.call and "call" in forms and not any("call" in action for action, _ in done):
        return {"call": call_of(turn, asked)}
    missing = _missing_reads(asked, turn)
    if missing and "read" in forms:
        return {"read": missing[:MOST_READS]}
    shown = _to_show(turn, asked, source)
    if shown is not None and shown[0] in forms and _is_to_do(shown[0], done):
        return {shown[0]: shown[1]}
    return {"answer": True}


def _is_to_do(kind: str, done: list[tuple[Json, str]]) -> bool:
    """Whether the step was not done yet, or has failed and another form of the query is left."""
    tried = [result for action, result in done if kind in action]
    return not tried or ("Error" in tried[-1] and len(tried) < 3)


def _missing_reads(asked: Asked, turn: Turn) -> list[Json]:
    found = []
    for one in turn.reads:
        widget = turn.board.widget(one.widget)
        alias = asked.alias(widget)
        wanted = one.arguments(widget)
        is_done = any(
            made.get("widget") == alias and _agrees(made.get("parameters") or {}, wanted, widget)
            for made in asked.read()
        )
        if alias and not is_done:
            found.append({"widget": alias, "parameters": wanted})
    return found


def _agrees(made: Json, wanted: Json, widget: Widget) -> bool:
    effective = {**widget.shown, **made}
    return all(str(effective.get(name)) == str(value) for name, value in wanted.items())


def _to_show(turn: Turn, asked: Asked, source: str) -> tuple[str, Any] | None:
    if not turn.sql:
        return None
    tried = sum(1 for action, _ in asked.done() if {"query", "chart", "table"} & set(action))
    sql = write_sql(turn, asked, tried)
    place = {"place": "chat"} if '"place"' in source else {}
    title = turn.ask[:60]
    if turn.chart:
        drawn = {"kind": turn.chart["kind"], "x": turn.chart["x"], "y": [turn.chart["y"]]}
        return "chart", {"sql": sql, **drawn, "title": title, **place}
    if turn.data.get("table"):
        return "table", {"sql": sql, "title": title, **place}
    return "query", sql


def call_of(turn: Turn, asked: Asked) -> Json:
    wanted = turn.call
    assert wanted is not None
    arguments = wanted["arguments"]
    if wanted.get("widget"):
        alias = asked.alias(turn.board.widget(wanted["widget"]))
        arguments = {"widget": alias, "parameters": arguments}
    elif "tabs" in arguments:
        arguments = {**arguments, "tabs": [one["name"] for one in arguments["tabs"]]}
    return {"tool": wanted["tool"], "arguments": arguments}


def write_sql(turn: Turn, asked: Asked, tried: int) -> str:
    """Returns the query with the names in the messages, in another form after each failure."""
    forms = turn.sql
    told = asked.told.replace(turn.ask, "")
    known = [one for one in forms if all(_column(told, name) for name in _columns(one))]
    ordered = [*known, *(one for one in forms if one not in known)]
    sql = ordered[min(tried, len(ordered) - 1)]
    for number, one in enumerate(turn.reads):
        sql = sql.replace(f"{{{number}}}", _table(turn, asked, one) or "missing")
    return BRACKETED.sub(lambda match: _column(told, match[1]) or f'"{match[1]}"', sql)


def _columns(sql: str) -> list[str]:
    return [match[1] for match in BRACKETED.finditer(sql)]


def _column(text: str, name: str) -> str:
    """Returns a column as the messages write it: revenue, "Net Income", valuation_pe_ratio,
    y2024."""
    if name.isdigit():
        year = re.search(rf"\b[a-z]+_?{name}\b", text, re.IGNORECASE)
        return year[0] if year else _quoted(text, name)
    exact = re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", text, re.IGNORECASE)
    if exact:
        return exact[0]
    longer = re.search(rf"(?<![\w.])\w+[_.]{re.escape(name)}(?![\w.])", text, re.IGNORECASE)
    if longer:
        return longer[0] if "." not in longer[0] else f'"{longer[0]}"'
    return _quoted(text, name)


def _quoted(text: str, name: str) -> str:
    """Returns a column whose name is in quotes, but not the name of a fence."""
    loose = re.escape(name).replace("_", "[ _.]?")
    found = re.search(rf'(?<!name=)"({loose})"', text, re.IGNORECASE)
    return f'"{found[1]}"' if found else ""


def _table(turn: Turn, asked: Asked, wanted: Read) -> str:
    """Returns the table of this read. Its name has the widget's alias and the values asked for."""
    widget = turn.board.widget(wanted.widget)
    numbered = re.findall(rf"^(t\d+) \(.*\): {re.escape(widget.name)}", asked.told, re.MULTILINE)
    same = [one for one in turn.reads if turn.board.widget(one.widget).name == widget.name]
    if numbered:
        return str(numbered[min(same.index(wanted), len(numbered) - 1)])
    alias = asked.alias(widget) or _slug(widget.name)
    names = dict.fromkeys(re.findall(rf"\b{re.escape(alias)}\w*", asked.told))
    own = {_slug(value) for _, value in wanted.parameters}
    others = {_slug(value) for one in same for _, value in one.parameters} - own

    def fitness(name: str) -> int:
        rest = f"{name.removeprefix(alias)}_"
        return sum(f"_{one}_" in rest for one in own) - sum(f"_{one}_" in rest for one in others)

    newest_first = list(names)[::-1]
    return max(newest_first, key=fitness, default="")


def _slug(text: str) -> str:
    return re.sub(r"[\W_]+", "_", text.lower()).strip("_")


def prose(asked: Asked) -> str:
    """Returns the answer in words, with placeholders for values if the prompt mentions them."""
    turn = asked.turn
    if turn is None:
        return "I do not know that."
    if turn.reply:
        return turn.reply
    if turn.chart or turn.data.get("table"):
        return "Here it is."
    results = [
        (action["query"], result)
        for action, result in asked.done()
        if isinstance(action.get("query"), str) and "Error" not in result
    ]
    if results and "{{" in f"{asked.system}{asked.told}":
        sql, result = results[-1]
        name = re.search(r"\bq\d+\b", result)
        return _with_places(sql, name[0] if name else "q1")
    return _from_sight(turn, asked)


def _with_places(sql: str, name: str) -> str:
    """Returns the values of a query as placeholders, row by row if it asks for several."""
    limit = re.search(r"\bLIMIT (\d+)$", sql.strip())
    rows = [name, *(f"{name}[{row}]" for row in range(2, int(limit[1]) + 1 if limit else 2))]
    columns = [(one, one.replace("_", " ")) for one in outputs(sql)]
    parts = [f"{words}: {{{{{row}.{one}}}}}" for row in rows for one, words in columns]
    return "; ".join(parts) + "."


def outputs(sql: str) -> list[str]:
    """Returns the names of a query's columns, which are given with AS outside of brackets."""
    depth, found, word = 0, [], ""
    for part in re.findall(r"\(|\)|\w+|[^\w()]+", sql):
        depth += (part == "(") - (part == ")")
        if depth == 0 and word.upper() == "AS" and re.fullmatch(r"\w+", part):
            found.append(part)
        if part.strip():
            word = part
    return found


def _from_sight(turn: Turn, asked: Asked) -> str:
    """Returns what a reader of the messages could say, with some mental arithmetic."""
    told = asked.told.replace(turn.ask, "")
    if not any(_is_shown(turn, one, told) for one in turn.alternatives):
        return IGNORANT
    # In rows with commas between the cells, a number ends at each comma.
    found = [*judge.numbers(told), *judge.numbers(told.replace(",", "\n"))]
    seen = {value for one in found for value, _ in one.readings}
    by_heart = turn.operands
    can_reckon = by_heart is not None and all(_is_seen(one, seen) for one in by_heart)
    said = []
    for truth in turn.numbers:
        if can_reckon or _is_seen(truth, seen):
            said.append(f"{truth:.6g}" if abs(truth) < 1e6 else f"{truth:,.0f}")
    for facts in turn.words:
        word = next((one for one in facts if one.lower() in told.lower()), "")
        said += [word] if word else []
    return "; ".join(said) + "." if said else IGNORANT


def _is_shown(turn: Turn, reads: Sequence[Read], told: str) -> bool:
    """Whether the messages have the data that is asked about, and not another company's."""
    lowered = told.lower()
    return all(
        turn.board.widget(one.widget).name.lower() in lowered
        and all(
            part.lower() in lowered
            for name, value in one.parameters
            if name not in questions.COVERING and name != "interval"
            for part in value.split("+")
        )
        for one in reads
    )


def _is_seen(truth: float, seen: set[float]) -> bool:
    scaled = [abs(truth) * factor for factor in (1.0, 1e6, 1e-6, 1e-3, 1e-9, 1e-12)]
    return any(abs(value - one) <= EXACT * one for value in seen for one in scaled)


def answer_small(asked: Asked, schema: Json) -> Json:
    """Answers the small questions: which widgets, values, query, chart or tool."""
    turn, names = asked.turn, schema.get("properties", {})
    if "english" in names:
        return {"english": asked.messages[-1].content}
    if {"question", "asks_for", "widgets", "widget"} & set(names):
        return (
            _choice(asked, names)
            if names.keys() & {"widget", "widgets"}
            else _meaning(asked, names)
        )
    if "sql" in names:
        return {"sql": write_sql(turn, asked, 0) if turn and turn.sql else NOTHING}
    if "tool" in names:
        wanted = turn.call["tool"] if turn and turn.call else ""
        lines = re.findall(r"^(T\d+): (\S+)", asked.told, re.MULTILINE)
        return {"tool": next((alias for alias, name in lines if name == wanted), "none")}
    if {"kind", "columns"} <= set(names):
        options = names["columns"]["items"]["enum"]
        drawn = turn.chart if turn and turn.chart else {"kind": "line", "y": options[0]}
        column = _column(" ".join(options), drawn["y"]).strip('"')
        return {"kind": drawn["kind"], "columns": [column if column in options else options[0]]}
    called = turn.call["arguments"] if turn and turn.call else {}
    set_ = {name: _setting(asked, name, one) for name, one in names.items()}
    return dict(called) if set(called) & set(names) else set_


def _meaning(asked: Asked, names: Json) -> Json:
    """Returns the last of several questions as it is, or the kind of a question."""
    if "question" in names:
        return {"question": asked.messages[-1].content.rpartition("\nSecond: ")[2]}
    said = asked.messages[-1].content
    turns = [turn for one in questions.load() for turn in one.turns if turn.ask == said]
    needs = any(turn.reads or turn.call for turn in turns)
    shows = any(turn.chart or turn.data.get("table") for turn in turns)
    kind = "chart or table" if shows else "figure"
    return {"asks_for": kind if needs else "greeting or thanks"}


def _choice(asked: Asked, names: Json) -> Json:
    if "widgets" in names:
        return {"widgets": _picked(asked)}
    return {"widget": _between(asked, names["widget"]["enum"])}


def _between(asked: Asked, aliases: list[str]) -> str:
    """Returns the widget that the question needs, by the lines that describe each."""
    said = asked.messages[-1].content
    turns = [turn for one in questions.load() for turn in one.turns if turn.ask in said]
    for turn in turns:
        for one in turn.reads:
            name = turn.board.widget(one.widget).name
            lines = re.findall(r"^- (\w+): (.*)$", said, re.MULTILINE)
            for alias, rest in lines:
                if alias in aliases and rest.startswith(name):
                    return alias
    return aliases[0]


def _picked(asked: Asked) -> list[str]:
    turn = asked.turn
    if turn is None:
        return []
    lines = re.findall(r"^(W\d+): (.*)$", asked.told, re.MULTILINE)
    found = []
    for one in turn.reads:
        name = turn.board.widget(one.widget).name
        found += [alias for alias, rest in lines if rest.startswith(name)][:1]
    return list(dict.fromkeys(found))


def _setting(asked: Asked, name: str, schema: Json) -> Any:
    """Returns a parameter's value: that of the plan, else the present one, else any that fits."""
    widget = re.search(r"^Widget: (.*)$", asked.told, re.MULTILINE)
    for one in asked.turn.reads if asked.turn else []:
        found = asked.turn.board.widget(one.widget) if asked.turn else None
        if found and widget and found.name == widget[1].strip():
            wanted = one.arguments(found)
            if name in wanted:
                return wanted[name]
    now = re.search(rf"^- {re.escape(name)} \(.*\), now (.*)$", asked.told, re.MULTILINE)
    if now:
        return json.loads(now[1])
    plain: Json = {"integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}
    return schema["enum"][0] if schema.get("enum") else plain.get(schema.get("type", ""), "text")


def guess_action(asked: Asked, forms: set[str]) -> Json:
    """Guesses an action by words alone, for unknown questions such as those of a trial."""
    question = asked.question.rpartition("Question:")[2]
    stems = {word[:5] for word in re.findall(r"[a-z]{4,}", question.lower())}
    if "query" in forms and "averag" in question.lower():
        words = re.findall(r"[a-z]{4,}", question.lower())
        column = next((one for one in reversed(words) if _column(asked.told, one)), "value")
        table = re.search(r"\btable (\w+)", asked.told)
        name = table[1] if table else "data"
        return {"query": f"SELECT AVG({_column(asked.told, column)}) AS average FROM {name}"}
    best, overlap = "", 0
    for match in INVENTORY.finditer(asked.system):
        about = {word[:5] for word in re.findall(r"[a-z]{4,}", match["rest"].lower())}
        if len(about & stems) > overlap:
            best, overlap = match["alias"], len(about & stems)
    if not best or "read" not in forms or asked.done():
        return {"answer": True}
    return {"read": [{"widget": best, "parameters": _guessed_parameters(question)}]}


def _guessed_parameters(question: str) -> Json:
    found: Json = {}
    for symbol, (name, _, _) in market.COMPANIES.items():
        if name.split()[0].strip(".,").lower() in question.lower():
            found["symbol"] = symbol
    if "quarter" in question.lower():
        found["period"] = "quarter"
    return found


ENGINES = {"oracle": Oracle, "thinker": Thinker, "obedient": Obedient}
