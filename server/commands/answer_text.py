"""Formats an answer for a terminal: renders Markdown in colour and wraps lines between words."""

import os
import re
import sys
import unicodedata
from collections.abc import Callable
from typing import TextIO

RESET = "\x1b[0m"
# All of these are readable on dark and light backgrounds. Yellow is not.
BOLD, DIM, ITALIC, UNDERLINED, CODE, MARK = "1", "2", "3", "4", "36", "35"
_UNDECIDED = re.compile(r" *(#{1,6}|`{1,2}|~{1,2}|[-*+]|\d{1,9}[.)]?|>)?")
"""The beginning of a line whose kind (heading, list, code …) is not clear yet."""
_HEADING = re.compile(r" {0,3}#{1,6} ")
_FENCE = re.compile(r" *(`{3,}|~{3,})")
_BULLET = re.compile(r"( *)([-*+]) ")
_NUMBER = re.compile(r"( *)(\d{1,9}[.)]) ")
_QUOTE = re.compile(r" *>")
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_PART = re.compile(rf"{_STYLE.pattern}|.", re.DOTALL)
_TAB = 8
_JOINER, _PRESENTED_AS_EMOJI = "\u200d", "\ufe0f"


class Lines:
    """A filter that wraps lines between words at a terminal's edge, while the text arrives.

    Call `feed` with each piece, then `flush`, and print what they return. A word is held back until
    it is complete, since only then it is known whether it fits. The terminal itself breaks words
    that are longer than a line, and text from `pass_on`.
    """

    def __init__(self, columns: Callable[[], int]) -> None:
        """`columns` returns the current width of the terminal; 0 if it is unknown."""
        self._columns = columns
        self._limit = columns()
        self._column = 0
        self._gap = 0
        """The spaces before the word. They are dropped at a line break."""
        self._word = ""
        self._width = 0
        self._last = ""
        self._is_overlong = False
        self._style = ""
        """The last style sequence sent to the terminal; empty after a reset."""
        self.lead = ""
        """The prefix of the lines that continue this one. A newline clears it."""

    def feed(self, text: str) -> str:
        return "".join(map(self._take, _PART.findall(text)))

    def pass_on(self, text: str) -> str:
        out = self.flush() + text
        if text.endswith("\n"):
            self._begin_line()
        return out

    def flush(self) -> str:
        """Returns the word so far, placed on this line or on the next."""
        if not self._width:
            word, self._word = self._word, ""
            return self._remember_style(word)
        self._limit = self._columns()
        out = ""
        if self._needs_break():
            lead = self._fitting_lead()
            out = f"{RESET if self._style else ''}\n{lead}{self._style}"
            self._column, self._gap = _width(lead), 0
        out += " " * self._gap + self._remember_style(self._word)
        self._column += self._gap + self._width
        if self._limit and self._column > self._limit:
            self._column = (self._column - 1) % self._limit + 1
        self._word, self._width, self._gap, self._last = "", 0, 0, ""
        return out

    def _needs_break(self) -> bool:
        fits = not self._limit or self._column + self._gap + self._width <= self._limit
        return not fits and not self._is_overlong and self._column > _width(self._fitting_lead())

    def _fitting_lead(self) -> str:
        """Returns the prefix, or "" if it would leave less than half of a line for the text."""
        return self.lead if 2 * _width(self.lead) <= self._limit else ""

    def _remember_style(self, word: str) -> str:
        for style in _STYLE.findall(word):
            self._style = "" if style == RESET else style
        return word

    def _take(self, part: str) -> str:
        if part == "\n":
            out = self.flush()
            self._begin_line()
            return out + part
        if part in " \t":
            out = self.flush()
            self._is_overlong = False
            at = self._column + self._gap
            self._gap += 1 if part == " " else _TAB - at % _TAB
            if self._column == 0 and self._gap > len(self.lead):
                self.lead = " " * self._gap
            return out
        if _STYLE.fullmatch(part):
            self._word += part
            return ""
        out = ""
        if _may_break(self._last, part):
            out = self.flush()
            self._is_overlong = False
        self._word += part
        self._width += _letter_width(part, self._last)
        self._last = part
        if self._limit and self._width > self._limit:
            out += self.flush()
            self._is_overlong = True
        return out + (self.flush() if self._is_overlong else "")

    def _begin_line(self) -> None:
        self._column, self._gap, self.lead, self._is_overlong = 0, 0, "", False


def columns_of(out: TextIO) -> int:
    """Returns the terminal's width; 0 for a file or a pipe, or if it is unknown."""
    try:
        columns = os.get_terminal_size(out.fileno()).columns
    except (OSError, ValueError):
        return 0
    # Windows moves to the next line by itself after a letter in the last column.
    return columns - 1 if sys.platform == "win32" else columns


def wrap(text: str, columns: int, hanging: int = 0) -> str:
    """Wraps each line of a complete text. Continued lines are indented by `hanging` columns."""
    if not columns:
        return text
    lines = Lines(lambda: columns)
    out = []
    for line in text.split("\n"):
        lines.lead = " " * hanging
        out.append(lines.feed(line) + lines.flush())
        lines.feed("\n")
    return "\n".join(out)


def _may_break(last: str, letter: str) -> bool:
    """Whether a line may end between two letters without a space between them."""
    if not last or last == _JOINER or not _letter_width(letter):
        return False
    if last == "—":
        return letter.isalnum()
    if not (_is_ideograph(last) or _is_ideograph(letter)):
        return False
    is_opening = unicodedata.category(last) in ("Ps", "Pi")
    return not (is_opening or _is_never_first(letter))


def _is_never_first(letter: str) -> bool:
    """Whether no Chinese or Japanese line begins with it: it closes, ends or prolongs something."""
    kind = unicodedata.category(letter)
    return kind in ("Pe", "Pf", "Po", "Lm") or " SMALL " in unicodedata.name(letter, "")


def _is_ideograph(letter: str) -> bool:
    """Whether it is Chinese, Japanese or an emoji. Korean puts spaces between its words."""
    return _letter_width(letter) == 2 and not unicodedata.name(letter, "").startswith("HANGUL")


def _letter_width(letter: str, before: str = "") -> int:
    """Returns the columns that a letter takes. If terminals differ, returns the largest number."""
    if letter == _PRESENTED_AS_EMOJI and before:
        return 2 - min(2, _letter_width(before))
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def _width(text: str) -> int:
    return sum(map(_letter_width, _STYLE.sub("", text)))


class Markdown:
    """A renderer of Markdown that arrives in pieces. Call `feed` with each, then `end`.

    Print what they return. The text must be free of control characters: the result contains only
    those that we add.
    """

    def __init__(self, lines: Lines | None = None, *, is_coloured: bool = True) -> None:
        """`lines` wraps the text, except for code blocks."""
        self._lines = lines
        self._is_coloured = is_coloured
        self._begun: str | None = ""
        """The line so far while its kind is not clear yet; None after that."""
        self._fence = ""
        """The mark that ends the current code block; empty outside of one."""
        self._line: tuple[str, ...] = ()
        self._inline: dict[str, str] = {}
        """The open marks within the line, and the style of each."""
        self._run = ""
        """Marks of the same kind that may continue."""
        self._before = " "
        self._style = ""

    def feed(self, piece: str) -> str:
        return "".join(map(self._show, piece))

    def end(self) -> str:
        is_code = bool(self._fence)
        if self._fence and self._closes(self._begun or ""):
            self._begun = ""
        rest = self._decide() + self._resolve(" ") + self._turn(())
        shown = self._break(rest if self._is_coloured else "", is_code=is_code)
        return shown + (self._lines.flush() if self._lines else "")

    def _show(self, letter: str) -> str:
        is_code = bool(self._fence)
        styled = self._take(letter)
        return self._break(styled if self._is_coloured else letter, is_code=is_code)

    def _break(self, text: str, *, is_code: bool) -> str:
        if self._lines is None:
            return text
        return self._lines.pass_on(text) if is_code else self._lines.feed(text)

    def _take(self, letter: str) -> str:
        if letter == "\n":
            return self._end_line()
        if self._begun is None:
            return self._write(letter)
        self._begun += letter
        if self._fence or _FENCE.match(self._begun) or _UNDECIDED.fullmatch(self._begun):
            return self._in_code() if self._fence else ""
        return self._decide()

    def _in_code(self) -> str:
        """Holds back a line of code only while it may be the mark that ends the block."""
        assert self._begun is not None
        if self._fence.startswith(self._begun.strip()) or self._closes(self._begun):
            return ""
        return self._decide()

    def _closes(self, line: str) -> bool:
        marks = line.strip()
        return marks.startswith(self._fence) and not marks.strip(self._fence[:1])

    def _end_line(self) -> str:
        begun = self._begun or ""
        if self._fence and self._closes(begun):
            self._fence = ""
            out = ""
        elif not self._fence and (fence := _FENCE.match(begun)):
            self._fence = fence[1]
            out = self._styled((DIM,), begun[fence.end() :].strip())
        else:
            out = self._decide() + self._resolve(" ")
        self._line, self._inline, self._begun, self._before = (), {}, "", " "
        return out + self._turn(()) + "\n"

    def _decide(self) -> str:
        """Writes the beginning of the line, now that its kind is clear."""
        begun, self._begun = self._begun or "", None
        if self._fence:
            self._line = (CODE,)
            return self._turn(self._line) + begun
        if heading := _HEADING.match(begun):
            self._line = (BOLD, UNDERLINED)
            return self._write(begun[heading.end() :])
        if bullet := _BULLET.match(begun):
            lead = bullet[1] + self._styled((MARK,), "•") + " "
            self._hang(" " * bullet.end())
            return lead + self._write(begun[bullet.end() :])
        if number := _NUMBER.match(begun):
            lead = number[1] + self._styled((MARK,), number[2]) + " "
            self._hang(" " * number.end())
            return lead + self._write(begun[number.end() :])
        if quote := _QUOTE.match(begun):
            self._line = (DIM,)
            self._hang(f"\x1b[{DIM}m│{RESET} " if self._is_coloured else "> ")
            return self._styled((DIM,), "│") + self._write(begun[quote.end() :])
        return self._write(begun)

    def _hang(self, lead: str) -> None:
        if self._lines:
            self._lines.lead = lead

    def _write(self, text: str) -> str:
        return text if self._fence else "".join(map(self._write_letter, text))

    def _write_letter(self, letter: str) -> str:
        if letter in "*`" and (not self._run or self._run[0] == letter) and self._before != "\\":
            self._run += letter
            return ""
        out = self._resolve(letter) + self._turn((*self._line, *self._inline.values())) + letter
        self._before = letter
        return out

    def _resolve(self, after: str) -> str:
        """Lets a finished run of marks open or close a style, or writes it as text."""
        marks, self._run = self._run, ""
        if not marks:
            return ""
        if marks[0] == "`":
            return self._open_or_close(marks, CODE)
        if any(mark[0] == "`" for mark in self._inline) or len(marks) > 3:
            return self._as_text(marks)
        may_close = marks in self._inline and not self._before.isspace()
        may_open = not after.isspace() and not self._before.isalnum()
        if not may_close and not (may_open and marks not in self._inline):
            return self._as_text(marks)
        return self._open_or_close(marks, {1: ITALIC, 2: BOLD}.get(len(marks), f"{BOLD};{ITALIC}"))

    def _open_or_close(self, marks: str, style: str) -> str:
        open_code = next((mark for mark in self._inline if mark[0] == "`"), "")
        if open_code and marks != open_code:
            return self._as_text(marks)
        if self._inline.pop(marks, None) is None:
            self._inline[marks] = style
        self._before = " "
        return ""

    def _as_text(self, marks: str) -> str:
        self._before = marks[-1]
        return self._turn((*self._line, *self._inline.values())) + marks

    def _styled(self, style: tuple[str, ...], text: str) -> str:
        return self._turn(style) + text + self._turn(()) if text else ""

    def _turn(self, style: tuple[str, ...]) -> str:
        """Returns the control sequences that switch the terminal to a style."""
        wanted = f"\x1b[{';'.join(style)}m" if style else ""
        if wanted == self._style:
            return ""
        before, self._style = self._style, wanted
        return (RESET if before else "") + wanted
