"""Markdown in colour for a terminal, as it comes: letter by letter, without drawing anything twice.

It colours what a chat's answers use: headings, bold, italic, code, lists, quotes. Tables and links
stay as they are written.
"""

import re

RESET = "\x1b[0m"
BOLD, DIM, ITALIC, UNDERLINED, CODE, MARK = "1", "2", "3", "4", "36", "33"
_UNDECIDED = re.compile(r" *(#{1,6}|`{1,2}|~{1,2}|[-*+]|\d{1,9}[.)]?|>)?")
"""The beginning of a line that may still become something else."""
_HEADING = re.compile(r" {0,3}#{1,6} ")
_FENCE = re.compile(r" *(`{3,}|~{3,})")
_BULLET = re.compile(r"( *)([-*+]) ")
_NUMBER = re.compile(r"( *)(\d{1,9}[.)]) ")
_QUOTE = re.compile(r" *>")


class Markdown:
    """Call `feed` with each piece of an answer, then `end`; print what they return.

    The text must be free of control characters: what comes back holds only ours.
    """

    def __init__(self) -> None:
        self._begun: str | None = ""
        """A line so far, until it is clear what it is; None after that."""
        self._fence = ""
        """The mark that ends the block of code that we are in."""
        self._line: tuple[str, ...] = ()
        self._inline: dict[str, str] = {}
        """What is open within the line: its mark, and the style for it."""
        self._run = ""
        """Marks of one kind that may go on."""
        self._before = " "
        self._style = ""

    def feed(self, piece: str) -> str:
        return "".join(map(self._take, piece))

    def end(self) -> str:
        rest = self._decide() + self._resolve(" ")
        return rest + (RESET if self._style else "")

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
        """A line of code waits only while it may be the mark that ends the block."""
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
        """Writes the beginning of the line as what it turned out to be."""
        begun, self._begun = self._begun or "", None
        if self._fence:
            self._line = (CODE,)
            return self._turn(self._line) + begun
        if heading := _HEADING.match(begun):
            self._line = (BOLD, UNDERLINED)
            return self._write(begun[heading.end() :])
        if bullet := _BULLET.match(begun):
            lead = bullet[1] + self._styled((MARK,), "•") + " "
            return lead + self._write(begun[bullet.end() :])
        if number := _NUMBER.match(begun):
            lead = number[1] + self._styled((MARK,), number[2]) + " "
            return lead + self._write(begun[number.end() :])
        if quote := _QUOTE.match(begun):
            self._line = (DIM,)
            return self._styled((DIM,), "│") + self._write(begun[quote.end() :])
        return self._write(begun)

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
        """Marks that have come to their end open or close something, or are only text."""
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
        """What the terminal must be sent to write in that style from here on."""
        wanted = f"\x1b[{';'.join(style)}m" if style else ""
        if wanted == self._style:
            return ""
        before, self._style = self._style, wanted
        return (RESET if before else "") + wanted
