"""Reads calls that a model writes in another form than its template's.

It examines the text that a style has read, if tools are offered and no grammar binds the answer. A
call names an offered tool and gives it an object of arguments. It may stand in a code fence, in
tags of any family, in a list, as bare JSON or as Python writes it. Text that may still become a
call is held back; all other text is passed on at once.

Tags show that a call is meant. A fence or bare JSON may also be an example: it counts as a call if
the answer begins or ends with it and the user did not ask for JSON.

Values are read as models write them: JSON, single quotes, Python's words. Every reader goes through
the text once, from left to right, and waits (`yield`) for more.
"""

import json
import re
from collections import Counter, deque
from collections.abc import Generator, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from server.chat import ChatRequest, Tool, ToolCall
from server.engine.styles.base import callable_tools, wants_tools
from server.engine.styles.stream import new_call_id
from server.events import (
    CallArguments,
    CallOpened,
    Piece,
    TextDelta,
    TokenLogprob,
    ToolCallRequested,
)
from server.system.limits import try_json

TICKS = re.compile("[`~]*")
INFO = re.compile(r"[A-Za-z0-9_+\-]*")
BLANKS = re.compile(r"[ \t]*")
BRACES = re.compile(r"[ \t}]*")
"""Closing braces after a call: small models often write too many of them."""
SEPARATORS = re.compile(r"[ \t\r\n,;]*")
LINE = re.compile(r"[^\n]*")
TAG = re.compile(r"[^<>\n\[\]]*")
TAG_BEGIN = re.compile("[A-Za-z/|｜]")
LETTERS = re.compile("[A-Za-z0-9_]*")
VALUE = re.compile("[^<]*")
NAME = re.compile(r"[A-Za-z0-9_.\-]")
NAMED_TAG = re.compile(r"[A-Za-z_]{1,20}(?:=|:| name=)[\"']?([A-Za-z0-9_.\-]{1,128})[\"']?")
JSON_ASKED = re.compile(
    r"(?<![A-Za-z0-9_./\\\-])json(?![A-Za-z0-9_]|[./\\][A-Za-z0-9_])", re.IGNORECASE
)
"""Matches "json" as a word in any language, but not in a file name or an identifier."""
OF_CALLS = re.compile("tool|function|call", re.IGNORECASE)
"""Matches the names of tags and fences that all families use for calls."""
FENCES = frozenset({"", "json", "json5", "jsonc", "text", "plaintext", "xml", "html"})
PREFIXES = ("", "functions.", "function.", "tools.", "tool.", "default_api.")
NAMES = frozenset({"name", "tool", "function", "tool_name", "function_name", "action"})
ARGUMENTS = frozenset({
    "arguments", "parameters", "args", "params", "input", "kwargs", "tool_input", "tool_args",
    "action_input", "function_args", "function_arguments",
})  # fmt: skip
LISTS = frozenset({
    "tool_calls", "tool_call", "function_calls", "function_call", "calls", "call", "tool_uses",
})  # fmt: skip
BESIDES = frozenset({"id", "type", "index", "call_id", "tool_call_id", "role"})
KEYS = NAMES | ARGUMENTS | LISTS | BESIDES
FENCE_BEGIN = re.compile(r"\s*(?:[`~]{3,16}[A-Za-z0-9_+\-]{0,32}\s*)?")
"""Matches white space, optionally with a fence that opens a call."""
MOST_DEPTH = 4
"""The deepest nesting of tags, lists or objects in which a call is looked for."""
LONGEST_TAG = 160
"""In characters. A longer text in angle or square brackets is not a tag."""


class Call(NamedTuple):
    name: str
    arguments: dict[str, Any]


Calls = Generator[None, None, list[Call]]


def asks_for_json(request: ChatRequest) -> bool:
    """Whether the last message is the user's and asks for JSON."""
    last = request.messages[-1] if request.messages else None
    return last is not None and last.role == "user" and bool(JSON_ASKED.search(last.content))


def may_call_loosely(request: ChatRequest) -> bool:
    """Whether the model may call a tool, but need not, and nothing binds what it writes."""
    is_free = request.tool_choice.mode == "auto" and request.constraint is None
    return wants_tools(request) and is_free and not request.continues


class LooseCalls:
    """Finds additional calls in the pieces that a style has read."""

    def __init__(self, request: ChatRequest) -> None:
        self.count = 0
        """The number of calls so far, including those of the style itself."""
        self._forms = CallForms({tool.name: tool for tool in callable_tools(request)})
        self._source = self._forms.source
        self._asks_for_json = asks_for_json(request)
        self._held = HeldText()
        self._text_end = 0
        """The text before this place is certain not to be part of a call."""
        self._pending: list[Call] = []
        """Calls that count only if no text follows."""
        self._has_spoken = False
        self._follows_call = False
        self._numbers: dict[int, int] = {}
        self._made: list[Piece] = []
        self._script = self._read()

    @property
    def holds(self) -> bool:
        return not self._held.is_blank

    def see(self, pieces: Sequence[Piece]) -> list[Piece]:
        for piece in pieces:
            if isinstance(piece, TextDelta):
                self._held.add(piece)
                self._source.add(piece.text)
                next(self._script, None)
            else:
                self._settle(piece)
                self._made.append(self._with_index(piece))
        return self._take()

    def rest(self) -> list[Piece]:
        """Ends the answer: text that is still held back becomes a call or text."""
        self._finish()
        self._made += self._held.all()
        return self._take()

    def _finish(self) -> None:
        """Reads to the end: no text follows."""
        self._source.ended = True
        for _ in self._script:
            pass
        if self._pending:
            self._call()
        self._release()
        if self._follows_call and self._held.is_blank:
            self._held.until(self._source.place)

    def _take(self) -> list[Piece]:
        self._release()
        made, self._made = self._made, []
        return made

    def _read(self) -> Generator[None, None, None]:
        """Looks for calls at the start of each line, and after other calls."""
        source, forms = self._source, self._forms
        while True:
            yield from source.take(SPACE)
            if not (yield from source.peek()):
                return
            begin = source.place
            try:
                calls, is_certain = yield from forms.group(follows_call=self._follows_call)
                self._find(calls, is_certain=is_certain)
                continue
            except NotACall:
                self._pass_on()
            if source.place == begin or not source.begins_line:
                yield from self._rest_of_line()

    def _rest_of_line(self) -> Generator[None, None, None]:
        while True:
            self._source.skip(self._source.count(LINE))
            self._pass_on()
            if self._source.has_more or self._source.ended:
                return
            yield

    def _find(self, calls: list[Call], *, is_certain: bool) -> None:
        self._pending += calls
        self._follows_call = True
        if is_certain or not self._pending or not (self._has_spoken or self._asks_for_json):
            self._call()
        elif self._asks_for_json:
            raise NotACall

    def _call(self) -> None:
        self._release()
        for call in self._pending:
            self._made += _pieces(call, self.count)
            self.count += 1
        self._pending = []
        self._held.until(self._source.place)

    def _pass_on(self) -> None:
        """Marks everything read so far as text."""
        self._pending = []
        self._text_end = self._source.place
        self._has_spoken = True
        self._follows_call = False

    def _release(self) -> None:
        self._made += self._held.until(self._text_end)

    def _settle(self, piece: Piece) -> None:
        """Decides about held text when a call or thought of the style itself follows."""
        opens_call = isinstance(piece, CallOpened)
        self._release()
        if opens_call and self._held.matches(FENCE_BEGIN):
            # The fence was opened for the call, so both its ends are left out.
            self._held.until(self._source.place)
        else:
            self._finish()
            self._forms.is_in_fence = False
        self._made += self._held.until(self._source.place)
        self._follows_call = self._follows_call or opens_call
        self._source.ended = False
        self._source.begins_line = True
        self._script = self._read()

    def _with_index(self, piece: Piece) -> Piece:
        if isinstance(piece, CallOpened):
            self._numbers[piece.index] = self.count
            self.count += 1
        if isinstance(piece, CallOpened | CallArguments):
            return replace(piece, index=self._numbers[piece.index])
        return piece


class HeldText:
    """Text not passed on yet, with its tokens. Places count from the answer's start."""

    def __init__(self) -> None:
        self.start = 0
        self._end = 0
        self._parts: deque[str] = deque()
        self._offset = 0
        """How many characters of the first part are already removed."""
        self._tokens: deque[tuple[int, TokenLogprob]] = deque()

    @property
    def is_blank(self) -> bool:
        return not self._text.strip()

    @property
    def _text(self) -> str:
        return "".join(self._parts)[self._offset :]

    def add(self, piece: TextDelta) -> None:
        at = self._end
        for token in piece.logprobs:
            self._tokens.append((at, token))
            at += len(token.text)
        self._end += len(piece.text)
        if piece.text:
            self._parts.append(piece.text)

    def until(self, place: int) -> list[TextDelta]:
        """Removes and returns the text before this place. A token across the place is included."""
        parts: list[str] = []
        while self._parts and self.start < place:
            begin, part = self._offset, self._parts[0]
            end = min(len(part), begin + place - self.start)
            parts.append(part[begin:end])
            self.start += end - begin
            self._offset = end
            if end == len(part):
                self._parts.popleft()
                self._offset = 0
        tokens = []
        while self._tokens and self._tokens[0][0] < place:
            tokens.append(self._tokens.popleft()[1])
        return [TextDelta("".join(parts), tuple(tokens))] if parts or tokens else []

    def all(self) -> list[TextDelta]:
        return self.until(self._end + 1)

    def matches(self, pattern: "re.Pattern[str]") -> bool:
        return pattern.fullmatch(self._text) is not None


def _pieces(call: Call, index: int) -> list[Piece]:
    made = ToolCall(new_call_id(), call.name, call.arguments)
    return [
        CallOpened(index, made.id, made.name, is_whole=True),
        CallArguments(index, json.dumps(call.arguments, ensure_ascii=False)),
        ToolCallRequested(made),
    ]


def _own_names(offered: Iterable[str]) -> dict[str, str]:
    """Returns the offered tools by their names without a namespace, which models often leave out.

    A name that several tools share means none of them.
    """
    own = [(name.rpartition("__")[2], name) for name in offered]
    shared = Counter(short for short, _ in own)
    return {short: name for short, name in own if shared[short] == 1}


class CallForms:
    """Reads the possible forms of a call. Raises `NotACall` as soon as it cannot be one."""

    def __init__(self, offered: dict[str, Tool]) -> None:
        self.source = AnswerSource()
        self.is_in_fence = False
        """Whether the text is inside a code fence that does not hold a call."""
        self._offered = offered
        known_as = _own_names(offered) | {name: name for name in offered}
        self._aliases = {
            f"{prefix}{alias}": name for alias, name in known_as.items() for prefix in PREFIXES
        }

    def group(self, *, follows_call: bool) -> Generator[None, None, tuple[list[Call], bool]]:
        """Returns calls that stand together, and whether they are certainly meant as calls."""
        char = yield from self.source.peek()
        if char in "`~":
            calls, is_certain = yield from self._fenced_calls(follows_call=follows_call)
        elif self.is_in_fence:
            raise NotACall
        elif char == "<":
            head = yield from self._tag()
            if head.startswith("/") and follows_call and OF_CALLS.search(head):
                return [], True
            calls, is_certain = (yield from self._tagged_calls(head, 0)), True
        else:
            calls, is_certain = yield from self._bare()
        if not calls and not follows_call:
            raise NotACall
        return calls, is_certain

    def _fenced_calls(
        self, *, follows_call: bool
    ) -> Generator[None, None, tuple[list[Call], bool]]:
        was_in_fence = self.is_in_fence
        info = yield from self._fence()
        if was_in_fence and follows_call:
            return [], False
        if was_in_fence or not (info in FENCES or OF_CALLS.search(info)):
            raise NotACall
        calls = yield from self._items("`", 0)
        if not calls:
            # After a call, this may be the end of a fence that was never opened.
            yield from self._end_of_text()
        return calls, bool(OF_CALLS.search(info))

    def _fence(self) -> Generator[None, None, str]:
        """Reads the line that begins or ends a fence, and returns the word after its ticks."""
        if len((yield from self.source.take(TICKS))) < 3:
            raise NotACall
        self.is_in_fence = not self.is_in_fence
        return (yield from self.source.take(INFO)).lower()

    def _end_of_text(self) -> Generator[None, None, None]:
        yield from self.source.take(SPACE)
        if (yield from self.source.peek()):
            raise NotACall

    def _items(self, closing: str, depth: int) -> Calls:
        """Reads calls up to the end of the surrounding fence or tag."""
        calls: list[Call] = []
        if depth > MOST_DEPTH:
            raise NotACall
        while True:
            yield from self.source.take(SEPARATORS)
            char = yield from self.source.peek()
            if not char:
                return calls
            if char in "`~":
                yield from self._fence()
                if closing == "`":
                    return calls
            elif char == "<":
                head = yield from self._tag()
                if not head.startswith("/"):
                    calls += yield from self._tagged_calls(head, depth + 1)
                elif closing == "<":
                    return calls
            elif calls and closing == "<" and char not in "{[":
                return calls
            else:
                calls += (yield from self._item(depth + 1))[0]
                yield from self.source.take(BRACES)

    def _bare(self) -> Generator[None, None, tuple[list[Call], bool]]:
        """Reads calls without marks. They must stand on lines of their own."""
        calls, is_certain = yield from self._item(0)
        yield from self.source.take(BRACES)
        if (yield from self.source.peek()) not in ("", "\n", "\r", "`", "<", "[", "{", ",", ";"):
            raise NotACall
        yield from self.source.take(SEPARATORS)
        return calls, is_certain

    def _item(self, depth: int) -> Generator[None, None, tuple[list[Call], bool]]:
        char = yield from self.source.peek()
        if char == "{":
            return (yield from self._object(0)), False
        if char == "[":
            return (yield from self._bracketed_calls(depth))
        return [(yield from self._named_call())], False

    def _bracketed_calls(self, depth: int) -> Generator[None, None, tuple[list[Call], bool]]:
        """Reads a list of calls, or calls after a mark such as [TOOL_CALLS]."""
        self.source.skip()
        yield from self.source.take(SPACE)
        char = yield from self.source.peek()
        if not char.isupper() and char != "/":
            return (yield from self._list(0)), False
        head = yield from self._mark("]")
        if not OF_CALLS.search(head):
            raise NotACall
        if head.startswith("/"):
            return [], True
        return (yield from self._items("<", depth + 1)), True

    def _list(self, depth: int) -> Calls:
        """Reads the inside of a list. Its opening bracket was already read."""
        calls: list[Call] = []
        while True:
            yield from self.source.take(SEPARATORS)
            char = yield from self.source.peek()
            if char == "]" and calls:
                self.source.skip()
                return calls
            if char == "{":
                calls += yield from self._object(depth + 1)
            else:
                calls.append((yield from self._named_call()))

    def _object(self, depth: int) -> Calls:
        """Reads {"name": …, "arguments": {…}}, also nested in a member, or {"the_name": {…}}."""
        found: dict[str, Any] = {}
        if depth > MOST_DEPTH:
            raise NotACall
        self.source.skip()
        yield from self.source.take(SPACE)
        if (yield from self.source.peek()) == "{":
            return (yield from self._doubled_braces(depth))
        while True:
            yield from self.source.take(SPACE)
            if (yield from self.source.peek()) == "}":
                self.source.skip()
                return self._calls_of(found)
            key = yield from read_string(self.source)
            if key not in KEYS and (found or key.strip() not in self._aliases):
                raise NotACall
            yield from self.source.expect(":")
            yield from self.source.take(SPACE)
            yield from self._member(key, found, depth)
            yield from self.source.take(SPACE)
            sign = yield from self.source.peek()
            if sign == ",":
                self.source.skip()
            elif sign in ("", "`", "<") and "arguments" in found:
                return self._calls_of(found)  # only the last brace is missing
            elif sign != "}":
                raise NotACall

    def _doubled_braces(self, depth: int) -> Calls:
        """Reads {{"name": …}}: some templates escape their braces like this, and models copy it."""
        calls = yield from self._object(depth + 1)
        if (yield from self.source.peek()):
            yield from self.source.expect("}")
        return calls

    def _member(self, key: str, found: dict[str, Any], depth: int) -> Generator[None, None, None]:
        char = yield from self.source.peek()
        if key in LISTS or (key in NAMES and char == "{"):
            if char == "[":
                self.source.skip()
                found["calls"] = yield from self._list(depth)
            elif char == "{":
                found["calls"] = yield from self._object(depth + 1)
            else:
                raise NotACall
        elif key in NAMES:
            found["name"] = self._offered_name((yield from read_string(self.source)))
        elif key in ARGUMENTS:
            found["arguments"] = yield from read_value(self.source)
        elif key in BESIDES:
            if char in "{[":
                raise NotACall
            yield from read_value(self.source)
        else:
            name = self._offered_name(key)
            arguments = yield from read_value(self.source)
            found["calls"] = [self._check_keyed(name, _as_object(arguments))]

    def _calls_of(self, found: dict[str, Any]) -> list[Call]:
        if "calls" in found:
            calls: list[Call] = found["calls"]
            return calls
        if "name" not in found:
            raise NotACall
        name, given = found["name"], found.get("arguments")
        if isinstance(given, str) and given.lstrip()[:1] not in ("{", ""):
            only = self._only_parameter(name)
            given = {only: given} if only else given
        return [self._check(name, None if given is None else _as_object(given))]

    def _only_parameter(self, name: str) -> str | None:
        """Returns the only parameter that bare text can be meant for; None if unclear."""
        schema = self._offered[name].parameters
        required = schema.get("required") or list(schema.get("properties") or ())
        return str(required[0]) if len(required) == 1 else None

    def _offered_name(self, name: str) -> str:
        if name.strip() not in self._aliases:
            raise NotACall
        return self._aliases[name.strip()]

    def _check(self, name: str, arguments: dict[str, Any] | None) -> Call:
        """Makes a call. Refuses arguments of which the tool knows none: they may be its schema."""
        known = self._offered[name].parameters.get("properties")
        if arguments is None and known:
            raise NotACall
        if arguments and isinstance(known, dict) and known and not known.keys() & arguments.keys():
            raise NotACall
        return Call(name, arguments or {})

    def _check_keyed(self, name: str, arguments: dict[str, Any]) -> Call:
        """Makes a call from {"the_name": {…}}. Its keys must be known: it may be a coincidence."""
        known = self._offered[name].parameters.get("properties")
        if not isinstance(known, dict) or not arguments or not arguments.keys() <= known.keys():
            raise NotACall
        return Call(name, arguments)

    def _named_call(self) -> Generator[None, None, Call]:
        """Reads the_name({…}), the_name(key=value) or the_name {…}."""
        name = yield from self._name()
        yield from self.source.take(BLANKS)
        char = yield from self.source.peek()
        if char == "(":
            self.source.skip()
            return (yield from self._python_call(name))
        if char == ":":
            self.source.skip()
        yield from self.source.take(SPACE)
        if (yield from self.source.peek()) != "{":
            raise NotACall
        return self._check(name, (yield from read_value(self.source)))

    def _name(self) -> Generator[None, None, str]:
        text_read = ""
        while NAME.fullmatch(char := (yield from self.source.peek())):
            text_read += char
            if not any(alias.startswith(text_read) for alias in self._aliases):
                raise NotACall
            self.source.skip()
        return self._offered_name(text_read)

    def _python_call(self, name: str) -> Generator[None, None, Call]:
        arguments: dict[str, Any] = {}
        while True:
            yield from self.source.take(SEPARATORS)
            char = yield from self.source.peek()
            if char == ")":
                self.source.skip()
                return self._check(name, arguments)
            if char == "{" and not arguments:
                arguments = _as_object((yield from read_value(self.source)))
                yield from self.source.expect(")")
                return self._check(name, arguments)
            key = yield from self.source.take(LETTERS)
            yield from self.source.expect("=")
            arguments[key] = yield from read_value(self.source)

    def _tag(self) -> Generator[None, None, str]:
        self.source.skip()
        return (yield from self._mark(">"))

    def _mark(self, end: str) -> Generator[None, None, str]:
        """Reads the inside of a mark up to `end`. Its first character was already read."""
        if not TAG_BEGIN.fullmatch((yield from self.source.peek())):
            raise NotACall
        head = ""
        while (char := (yield from self.source.peek())) != end:
            if not TAG.fullmatch(char) or not char or len(head) > LONGEST_TAG:
                raise NotACall
            head += self.source.skip()
        self.source.skip()
        return head

    def _tagged_calls(self, head: str, depth: int) -> Calls:
        """Reads the calls after a tag that announces calls or names a tool."""
        named = NAMED_TAG.fullmatch(head)
        name = self._aliases.get(named[1] if named else head)
        if name is not None:
            return [self._check(name, (yield from self._tagged_arguments(name)))]
        if named or not OF_CALLS.search(head):
            raise NotACall
        calls = yield from self._items("<", depth + 1)
        if not calls:
            raise NotACall
        return calls

    def _tagged_arguments(self, name: str) -> Generator[None, None, dict[str, Any]]:
        """Reads an object, or one tag per argument, up to the tag that ends the call."""
        arguments: dict[str, Any] = {}
        yield from self.source.take(SPACE)
        if (yield from self.source.peek()) == "{":
            arguments = _as_object((yield from read_value(self.source)))
        while True:
            yield from self.source.take(SPACE)
            if (yield from self.source.peek()) != "<":
                return arguments
            head = yield from self._tag()
            if head.startswith("/"):
                return arguments
            named = NAMED_TAG.fullmatch(head)
            key = named[1] if named else head
            text = yield from self._tagged_text(re.split("[= ]", head)[0])
            arguments[key] = self._as_type(name, key, text)

    def _tagged_text(self, tag: str) -> Generator[None, None, str]:
        parts: list[str] = []
        while True:
            parts.append((yield from self.source.take(VALUE)))
            if not (yield from self.source.peek()):
                raise NotACall
            closing = ""
            while f"</{tag}>".startswith(closing) and closing != f"</{tag}>":
                if not (yield from self.source.peek()):
                    raise NotACall
                closing += self.source.skip()
            if closing == f"</{tag}>":
                return "".join(parts).strip("\r\n")
            parts.append(closing)

    def _as_type(self, name: str, key: str, text: str) -> Any:
        """Converts the text of a tag to the type in the tool's schema."""
        schema = self._offered[name].parameters.get("properties", {}).get(key, {})
        kind = schema.get("type") if isinstance(schema, dict) else None
        if kind == "string":
            return text
        return try_json(text, text)


def _as_object(value: Any) -> dict[str, Any]:
    """Returns the arguments as an object. They may also be a string that contains the object."""
    if isinstance(value, str):
        value = parse(value)
    if value is not None and not isinstance(value, dict):
        raise NotACall
    return value or {}


SPACE = re.compile(r"[ \t\r\n]*")
WORD = re.compile(r"[A-Za-z0-9_.+\-]*")
UNQUOTED = {'"': re.compile(r'[^"\\]*'), "'": re.compile(r"[^'\\]*")}
ESCAPE = re.compile(r'\\(u[0-9A-Fa-f]{4}|.)|"', re.DOTALL)
NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+\-]?[0-9]+)?")
WORDS = {"True": "true", "False": "false", "None": "null"} | {
    word: word for word in ("true", "false", "null")
}
JSON_ESCAPES = '"\\/bfnrtu'

Waiting = Generator[None, None, str]


class NotACall(Exception):
    """Raised when the text read so far cannot become a call."""


class AnswerSource:
    """The text of an answer. Readers wait for more only after they have read all of it."""

    def __init__(self) -> None:
        self.ended = False
        self.place = 0
        """How many characters were read."""
        self.begins_line = True
        """Whether only white space was read since the line began."""
        self._text = ""
        self._at = 0

    def add(self, text: str) -> None:
        self._text = self._text[self._at :] + text
        self._at = 0

    def peek(self) -> Waiting:
        """Waits for and returns the next character; empty at the end of the text."""
        while self._at >= len(self._text):
            if self.ended:
                return ""
            yield
        return self._text[self._at]

    @property
    def has_more(self) -> bool:
        """Whether unread text is available."""
        return self._at < len(self._text)

    def count(self, pattern: "re.Pattern[str]") -> int:
        """Returns how many of the available characters the pattern matches."""
        found = pattern.match(self._text, self._at)
        return found.end() - self._at if found else 0

    def skip(self, size: int = 1) -> str:
        read = self._text[self._at : self._at + size]
        self._at += len(read)
        self.place += len(read)
        line = read.rpartition("\n")
        self.begins_line = (self.begins_line or bool(line[1])) and not line[2].strip()
        return read

    def take(self, pattern: "re.Pattern[str]") -> Waiting:
        """Reads as long as the pattern matches. The pattern describes one kind of character."""
        parts: list[str] = []
        while True:
            parts.append(self.skip(self.count(pattern)))
            if self.has_more or self.ended:
                return "".join(parts)
            yield

    def expect(self, char: str) -> Generator[None, None, None]:
        yield from self.take(SPACE)
        if (yield from self.peek()) != char:
            raise NotACall
        self.skip()


def read_string(source: AnswerSource) -> Waiting:
    """Reads a string in single or double quotes."""
    quote = yield from source.peek()
    if quote not in UNQUOTED:
        raise NotACall
    source.skip()
    parts: list[str] = []
    while True:
        parts.append((yield from source.take(UNQUOTED[quote])))
        char = yield from source.peek()
        if not char:
            raise NotACall
        source.skip()
        if char == quote:
            return _decode("".join(parts))
        parts.append(char)
        parts.append((yield from source.peek()))
        source.skip()


def read_value(source: AnswerSource) -> Generator[None, None, Any]:
    """Reads a value: an object, list, string, number or word."""
    made: list[str] = []
    depth = 0
    while True:
        yield from source.take(SPACE)
        char = yield from source.peek()
        if char in UNQUOTED:
            made.append(json.dumps((yield from read_string(source))))
        elif char and char in "{}[]:,":
            depth += (char in "{[") - (char in "}]")
            _add_sign(made, source.skip())
        else:
            made.append(_word((yield from source.take(WORD))))
        if depth <= 0:
            return parse("".join(made))


def parse(made: str) -> Any:
    try:
        return json.loads(made)
    except (ValueError, RecursionError) as error:
        raise NotACall from error


def _add_sign(made: list[str], sign: str) -> None:
    if sign in "}]" and made and made[-1] == ",":
        made.pop()
    made.append(sign)


def _word(word: str) -> str:
    if word not in WORDS and not NUMBER.fullmatch(word):
        raise NotACall
    return WORDS.get(word, word)


def _decode(inside: str) -> str:
    """Decodes the inside of a string. It may contain line breaks, which JSON does not allow."""
    try:
        return str(json.loads(f'"{ESCAPE.sub(_json_escape, inside)}"', strict=False))
    except ValueError as error:
        raise NotACall from error


def _json_escape(found: "re.Match[str]") -> str:
    """Rewrites an escape, or a bare double quote, as JSON requires."""
    escaped = found[1]
    if escaped is None:
        return '\\"'
    if escaped[0] in JSON_ESCAPES and (escaped[0] != "u" or len(escaped) > 1):
        return found[0]
    return escaped if escaped in "'\n" else f"\\\\{escaped}"
