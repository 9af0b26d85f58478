"""The messages of a chat: questions, answers with text and charts, suggestions.

Qt lays out a whole document at once, and a long table or thousands of code words would block the
window. So a `Budget` limits what is drawn. All of it can be shown as plain text, which is cheap.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QBuffer, QByteArray, QSize, Qt, Signal
from PySide6.QtGui import QImageReader, QPixmap, QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from app.charts.figure import Figure, parts
from app.charts.view import ChartView
from app.chat.attachments import Attachment
from app.chat.chats import Quote
from app.chat.chips import Chip, file_words
from app.chat.markdown import MarkdownView
from app.look import theme
from app.look.controls import (
    Banner,
    Button,
    Column,
    CopyButton,
    Label,
    ReadBox,
    delay,
    drop,
    hint,
    name_label,
    reveal,
    row,
    shortened,
    stack,
    text_to_read,
)
from app.look.translate import numeral, told, tr
from server.errors import AppError
from server.events import Finished
from server.system.limits import one_line, printable

MOST_READ = 400_000
"""The most characters of an answer that are searched for charts and text."""
MOST_LETTERS = 20_000
MOST_LINES = 700
MOST_TABLE_ROWS = 120
LONGEST_LINE = 8_000
MOST_MARKS = 6_000
"""The most Markdown marks, such as backticks, stars and brackets. Each may start a styled run."""
_MARKS = "`*_[]<>~!|&\\"
_MARK_TABLE = str.maketrans("", "", _MARKS)


class Budget:
    """A limit on what is drawn of an answer. `is_spent` is set once something was left out."""

    def __init__(self) -> None:
        self.is_spent = False
        self._letters = MOST_LETTERS
        self._lines = MOST_LINES
        self._rows = MOST_TABLE_ROWS
        self._marks = MOST_MARKS

    def take(self, text: str) -> str:
        """Returns the beginning of the text that may be drawn, and reduces the budget."""
        if self.is_spent:
            return ""
        kept: list[str] = []
        at = 0
        while at <= len(text):
            end = text.find("\n", at, at + LONGEST_LINE + 1)
            is_cut = end < 0 and len(text) - at > LONGEST_LINE
            end = at + LONGEST_LINE if is_cut else len(text) if end < 0 else end
            line = self._line(text[at:end])
            if line is not None:
                kept.append(line)
            self.is_spent = self.is_spent or is_cut
            if self.is_spent:
                break
            at = end + 1
        return "\n".join(kept)

    def _line(self, line: str) -> str | None:
        marks = len(line) - len(line.translate(_MARK_TABLE))
        is_row = line.lstrip().startswith("|") or line.count("|") > 1
        self._letters -= len(line) + 1
        self._lines -= 1
        self._rows -= is_row
        self._marks -= 0 if is_row and marks == line.count("|") else marks
        if min(self._letters, self._lines, self._rows, self._marks) >= 0:
            return line
        self.is_spent = True
        plain = line.translate(_MARK_TABLE)[: max(0, self._letters + len(line))]
        return plain if self._rows >= 0 and self._lines >= 0 and plain.strip() else None


class AllText(QWidget):
    """A note that only the beginning is drawn, with a button that shows all of it as plain text."""

    def __init__(self, name: str, text: Callable[[], str]) -> None:
        super().__init__()
        self._text = text
        self.note = Label(tr("Only the beginning is shown."), "small")
        self.button = Button(tr("Show all as text"), "logs", name=tr("Show all as text"))
        self.button.setCheckable(True)
        self.button.toggled.connect(self._turn)
        self.box = ReadBox(name)
        self.box.setUndoRedoEnabled(False)
        self.box.setFixedHeight(theme.ALL_TEXT_HEIGHT)
        self.setLayout(stack(row(self.note, self.button, 0), self.box, spacing=theme.SMALL))
        self.box.hide()
        self.hide()

    def offer(self, *, offered: bool) -> None:
        self.setVisible(offered)

    def refresh(self) -> None:
        """Shows the current text again, if it is open. Called when the answer ends."""
        if self.button.isChecked():
            self.box.setPlainText(text_to_read(self._text()))

    def _turn(self, shown: bool) -> None:
        self.button.setText(tr("Hide the text") if shown else tr("Show all as text"))
        self.button.setAccessibleName(self.button.text())
        self.refresh()
        self.box.setVisible(shown)


Part = MarkdownView | ChartView


class AnswerBody(QWidget):
    """The drawn part of an answer: Markdown views and charts, in order."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[Part] = []
        self.budget = Budget()
        self._drawn = ""
        """The text that used up the budget. What comes after it is not drawn."""
        self._column = stack(spacing=theme.MEDIUM)
        self.setLayout(self._column)

    def show_text(self, text: str) -> None:
        """Shows the text. Parts that have not changed stay, so only the end is drawn again."""
        if self.budget.is_spent and text.startswith(self._drawn):
            return
        self.budget = Budget()
        wanted: list[str | Figure] = []
        for part in parts(text[:MOST_READ]):
            taken = self.budget.take(part) if isinstance(part, str) else part
            if taken and not (self.budget.is_spent and isinstance(part, Figure)):
                wanted.append(taken)
        self.budget.is_spent = self.budget.is_spent or len(text) > MOST_READ
        self._drawn = text if self.budget.is_spent else ""
        for place, part in enumerate(wanted):
            if place < len(self._parts) and _shows(self._parts[place], part):
                continue
            if place < len(self._parts) and isinstance(part, str):
                shown = self._parts[place]
                if isinstance(shown, MarkdownView):
                    shown.show_markdown(part)
                    continue
            self._drop_from(place)
            self._add(part)
        self._drop_from(len(wanted))

    def _add(self, part: str | Figure) -> None:
        made: Part
        if isinstance(part, str):
            made = MarkdownView()
            made.setAccessibleName(tr("Answer"))
        else:
            made = ChartView(part)
        self._parts.append(made)
        self._column.addWidget(made)
        if isinstance(made, MarkdownView) and isinstance(part, str):
            made.show_markdown(part)

    def _drop_from(self, place: int) -> None:
        for part in self._parts[place:]:
            drop(self._column, part)
        del self._parts[place:]


def _shows(shown: Part, part: str | Figure) -> bool:
    if isinstance(shown, MarkdownView):
        return isinstance(part, str) and shown.markdown() == part
    return shown.figure == part


class Suggestion(Button):
    def __init__(self, text: str) -> None:
        super().__init__(kind="suggestion")
        self._words = Label(wrap=True)
        self._words.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(theme.MEDIUM, theme.SMALL, theme.MEDIUM, theme.SMALL)
        self._column.addWidget(self._words)
        policy = self.sizePolicy()
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.ask(text)

    @property
    def question(self) -> str:
        return self._words.text()

    def ask(self, text: str) -> None:
        self._words.setText(text)
        self.setAccessibleName(text or tr("A question to ask"))
        self.updateGeometry()

    def hasHeightForWidth(self) -> bool:  # noqa: N802
        return True

    def heightForWidth(self, width: int) -> int:  # noqa: N802
        return self._column.totalHeightForWidth(width)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Gives a long question its full height: a page that is too low scrolls."""
        super().resizeEvent(event)
        self.setMinimumHeight(max(0, self.heightForWidth(event.size().width())))

    def sizeHint(self) -> QSize:  # noqa: N802
        return self._column.totalSizeHint()

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return self._column.totalMinimumSize()


_SIDE = 132
"""The most width and height in pixels. Two fit side by side into the smallest window's bubble."""


class Thumbnail(Label):
    """A picture, or its name if Qt cannot read it."""

    def __init__(self, attached: Attachment) -> None:
        super().__init__(attached.name, "small")
        self.setAccessibleName(one_line(attached.name))
        self.setToolTip(hint(attached.name))
        picture = _small(attached.image.data if attached.image else b"", self.devicePixelRatioF())
        if not picture.isNull():
            self.setPixmap(picture)


def _small(data: bytes, scale: float) -> QPixmap:
    """Returns the picture, scaled by its reader, which need not decode all of some formats."""
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    reader = QImageReader(buffer)
    reader.setAutoTransform(True)
    most = QSize(_SIDE, _SIDE) * scale
    size = reader.size()
    if size.width() > most.width() or size.height() > most.height():
        kept = size.scaled(most, Qt.AspectRatioMode.KeepAspectRatio)
        reader.setScaledSize(kept.expandedTo(QSize(1, 1)))
    picture = QPixmap.fromImage(reader.read())
    picture.setDevicePixelRatio(scale)
    return picture


_RENDER_MS = 90
"""The least milliseconds between two drawings of an answer."""
_MEASURABLE_S = 0.05
"""Seconds below which no speed is shown."""
_MOST_SUGGESTIONS = 3
_LONG = 4000
"""Characters of a saved answer from which it is drawn in a turn of the loop of its own."""
_SHOWN_LETTERS = 2000
_SHOWN_THOUGHTS = 10_000
_IN_A_ROW = 2
_REST = 4
"""The pause after a drawing, as a multiple of the time it took."""
_MOST_STEPS = 50
_LONGEST_STEP = 400


class Versions(QWidget):
    """Shows which version of a message this is, with buttons for the others."""

    turned = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._at = 0
        self.back = Button("", "back", "icon", name=tr("Previous version"))
        self.forth = Button("", "forth", "icon", name=tr("Next version"))
        self.words = Label("", "small")
        for button, step in ((self.back, -1), (self.forth, 1)):
            button.setProperty("scale", "small")
            button.clicked.connect(lambda _=False, step=step: self.turned.emit(self._at + step))
        self.setLayout(row(self.back, self.words, self.forth, spacing=0))
        self.hide()

    def show_place(self, at: int, count: int) -> None:
        self._at = at
        self.words.setText(f"{at + 1} / {count}")
        self.words.setAccessibleName(
            tr("Version {number} of {count}").format(number=at + 1, count=count)
        )
        self.back.setEnabled(at > 0)
        self.forth.setEnabled(at < count - 1)
        reveal(self, shown=count > 1)


class Question(QWidget):
    """A question. `place` is its index among the chat's messages."""

    edited = Signal()

    def __init__(self, text: str, place: int = 0, attached: Sequence[Attachment] = ()) -> None:
        super().__init__()
        self.place = place
        self.text = text
        self.attached = list(attached)
        self.pictures = [Thumbnail(one) for one in attached if one.image]
        self.chips = [
            Chip(one.name, file_words(one), closes=False) for one in attached if not one.image
        ]
        self.edit = Button("", "edit", "icon", name=tr("Edit and resend"))
        self.edit.clicked.connect(self.edited)
        self.versions = Versions()
        label = _words(text)
        bubble = QFrame()
        bubble.setObjectName("bubble")
        bubble.setMaximumWidth(theme.BUBBLE_WIDTH)
        inside = stack(spacing=theme.SMALL)
        inside.setContentsMargins(
            theme.MEDIUM + 2, theme.SMALL + 2, theme.MEDIUM + 2, theme.SMALL + 2
        )
        bubble.setLayout(inside)
        if self.pictures:
            inside.addLayout(_side_by_side(self.pictures))
        for chip in self.chips:
            inside.addWidget(chip, 0, Qt.AlignmentFlag.AlignLeft)
        inside.addWidget(label)
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.addStretch(1)
        for control in (self.versions, self.edit):
            line.addWidget(control, 0, Qt.AlignmentFlag.AlignBottom)
        line.addWidget(bubble, 4 if len(text) > 60 else 0)


def _beginning(text: str, most: int = _SHOWN_LETTERS) -> str:
    """Returns the beginning of a text, because a label lays out all of its text at once."""
    return text if len(text) <= most else f"{text[:most]}…"


def _words(text: str) -> Label:
    """Returns a label with the question, at most _SHOWN_LETTERS characters."""
    text = printable(_beginning(text))
    label = Label(text, wrap=True)
    label.let_select()
    label.setAccessibleName(tr("You: {text}").format(text=text))
    # A label that wraps asks for little width, and would wrap even a short text.
    widest = max(label.fontMetrics().horizontalAdvance(line) for line in text.split("\n"))
    label.setMinimumWidth(min(widest + theme.TINY, theme.SURE_WIDTH))
    return label


def _side_by_side(pictures: Sequence[Thumbnail]) -> QGridLayout:
    grid = QGridLayout()
    grid.setSpacing(theme.SMALL)
    for number, picture in enumerate(pictures):
        grid.addWidget(picture, *divmod(number, _IN_A_ROW), Qt.AlignmentFlag.AlignTop)
    grid.setColumnStretch(_IN_A_ROW, 1)
    return grid


@dataclass(slots=True)
class Pace:
    """The speed of an answer as a reader sees it. Times are monotonic, in seconds."""

    asked_at: float
    first_at: float = 0.0
    last_at: float = 0.0
    pieces: int = 0

    def count(self, now: float) -> None:
        self.first_at = self.first_at or now
        self.last_at = now
        self.pieces += 1

    def words(self, tokens: int) -> str:
        """Describes the speed. Without the server's count of tokens, each piece counts as one."""
        tokens = tokens or self.pieces
        words = tr("1 token") if tokens == 1 else tr("{count} tokens")
        parts = [words.format(count=numeral(tokens))]
        if self.last_at - self.first_at > _MEASURABLE_S:
            parts.append(
                tr("{speed} tokens/s").format(
                    speed=numeral((tokens - 1) / (self.last_at - self.first_at), ",.1f")
                )
            )
        parts.append(
            tr("{time} s to first token").format(time=numeral(self.first_at - self.asked_at, ".1f"))
        )
        return "  ·  ".join(parts)


class Sources(QWidget):
    """The passages that an answer is based on: where they are, and on demand their text."""

    def __init__(self) -> None:
        super().__init__()
        self.places = Label("", "small", wrap=True)
        self.button = Button(tr("Show passages"), kind="suggestion")
        self.button.setCheckable(True)
        self.texts = Label("", "muted", wrap=True)
        self.button.toggled.connect(lambda shown: reveal(self.texts, shown=shown))
        self.setLayout(stack(self.places, row(self.button, 0), self.texts, spacing=theme.SMALL))
        self.texts.hide()
        self.hide()

    def show_quotes(self, quotes: Sequence[Quote]) -> None:
        numbered = [(f"[{number}] {one.place}", one.text) for number, one in enumerate(quotes, 1)]
        # Keep each place on one line if possible.
        places = [place.replace(" ", "\N{NO-BREAK SPACE}") for place, _ in numbered]
        self.places.setText("   ".join(places))
        self.texts.setText("\n\n".join(f"{place}\n{text}" for place, text in numbered))
        reveal(self, shown=bool(quotes))


class Answer(QWidget):
    """An answer, which grows while it streams. It is drawn at most every _RENDER_MS."""

    again = Signal()
    again_with_another = Signal()
    """Emitted to choose another model that answers again."""
    suggested = Signal(str)
    """Emitted with a suggested question that was clicked."""

    def __init__(self, model: str, place: int = 0) -> None:
        super().__init__()
        self.place = place
        self.model = model
        self._text: list[str] = []
        self._thoughts: list[str] = []
        self._steps: list[str] = []
        self._pace = Pace(time.monotonic())
        self.view = AnswerBody()
        self.thinking = Button(tr("Show reasoning"), kind="suggestion")
        self.thinking.setCheckable(True)
        self.thoughts = Label("", "muted", wrap=True)
        self.thinking.toggled.connect(self._show_thoughts)
        self.all_thoughts = AllText(tr("Reasoning"), lambda: "".join(self._thoughts))
        self.all_text = AllText(tr("Answer"), self.text)
        self.footer = Label(tr("Waiting for the first token…"), "small")
        self.steps = Label("", "small", wrap=True)
        self.copy = CopyButton(tr("the answer"), self.text, "icon")
        self.retry = Button("", "reset", "icon", name=tr("Regenerate"))
        self.retry.clicked.connect(self.again)
        self.other = Button("", "down", "icon", name=tr("Regenerate with another model"))
        self.other.clicked.connect(self.again_with_another)
        self.versions = Versions()
        self.sources = Sources()
        self.failure = Banner("bad", closes=False)
        self._render = delay(self, _RENDER_MS, self._draw)
        self._lay_out(model)

    def text(self) -> str:
        return "".join(self._text)

    def show_quotes(self, quotes: Sequence[Quote]) -> None:
        self.sources.show_quotes(quotes)

    def add_text(self, text: str) -> None:
        self._text.append(text)
        self._came()

    def add_block(self, text: str) -> None:
        """Adds a table or chart as a paragraph of its own."""
        if text:
            gap = "\n\n" if self.text() and not self.text().endswith("\n\n") else ""
            self.add_text(f"{gap}{text}\n\n")

    def add_thought(self, text: str) -> None:
        self._thoughts.append(text)
        self._came()

    def add_step(self, text: str) -> None:
        """Shows something that was done for the answer, such as a tool call or a search."""
        self._steps.append(f"•  {shortened(told(text), _LONGEST_STEP)}")
        self.steps.tell("\n".join(self._steps[-_MOST_STEPS:]))
        if not self._pace.pieces:
            # It may be waiting for a tool or a person, not for the model.
            self.footer.setText(tr("Working…"))

    def suggest(self, prompts: tuple[str, ...]) -> None:
        """Shows suggested next questions as buttons under the answer."""
        for prompt in (shortened(each, _LONGEST_STEP) for each in prompts[:_MOST_SUGGESTIONS]):
            button = Suggestion(prompt)
            button.clicked.connect(lambda _=False, text=prompt: self.suggested.emit(text))
            self._column.addWidget(button)

    def show_whole(self, text: str) -> None:
        """Shows an answer that was saved earlier; a long one once the window knows its width."""
        self._text = [text]
        self._close("")
        if len(text) > _LONG:
            self._render.setInterval(0)
            self._render.start()
        else:
            self._draw()

    def finish(self, finished: Finished) -> None:
        end = f"  ·  {tr('length limit reached')}" if finished.reason == "length" else ""
        tokens = finished.usage.completion_tokens
        # A tool's answer has no tokens, because no model wrote it.
        self._close(self._pace.words(tokens) + end if tokens or not self._steps else "")
        if not self.text():
            self.footer.setText(tr("The model returned an empty answer.") + end)

    def stop(self) -> None:
        pace = f"  ·  {self._pace.words(0)}" if self._pace.pieces else ""
        self._close(tr("Stopped") + pace)

    def fail(self, error: AppError) -> None:
        title = tr("No answer") if not self._text else tr("The answer was interrupted")
        self.failure.fail(title, error)
        self.failure.show()
        # Close last: it may have been the drawing that failed.
        self._close("")

    def _came(self) -> None:
        self._pace.count(time.monotonic())
        if not self._render.isActive():
            self._render.start()

    def _draw(self) -> None:
        began = time.monotonic()
        self.view.show_text(self.text())
        self.view.setVisible(bool(self._text))
        self.all_text.offer(offered=self.view.budget.is_spent)
        self.thinking.setVisible(bool(self._thoughts))
        thoughts = "".join(self._thoughts)
        shown = _beginning(thoughts, _SHOWN_THOUGHTS)
        self.thoughts.setText(shown)
        self.all_thoughts.offer(offered=self.thinking.isChecked() and shown != thoughts)
        self.footer.setText(self._pace.words(0))
        # A long answer takes longer to draw. Leave most of the time to the rest of the window.
        took_ms = round((time.monotonic() - began) * 1000)
        self._render.setInterval(max(_RENDER_MS, _REST * took_ms))

    def _show_thoughts(self, shown: bool) -> None:
        self.thoughts.setVisible(shown)
        is_cut = len("".join(self._thoughts)) > _SHOWN_THOUGHTS
        self.all_thoughts.offer(offered=shown and is_cut)

    def _close(self, footer: str) -> None:
        self._render.stop()
        if self._pace.pieces:
            self._draw()
        self.footer.tell(footer)
        self.all_text.refresh()
        self.all_thoughts.refresh()
        self.copy.setVisible(bool(self._text))
        self.retry.show()
        self.other.show()

    def _lay_out(self, model: str) -> None:
        for hidden in (self.view, self.thinking, self.thoughts, self.failure, self.copy):
            hidden.hide()
        for hidden in (self.retry, self.other, self.steps):
            hidden.hide()
        self._column = stack(
            name_label(model, "small"),
            row(self.thinking, 0),
            self.thoughts,
            self.all_thoughts,
            self.steps,
            self.view,
            self.all_text,
            self.sources,
            self.failure,
            row(self.footer, self.versions, self.copy, self.retry, self.other, 0),
            spacing=theme.TINY + 2,
        )
        self.setLayout(self._column)


class Transcript(Column):
    """The scrolling column of messages. It follows the newest one unless the person scrolls up."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(tr("Conversation"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._following = True
        self._may_again = True
        self.body.setSpacing(theme.LARGE)
        self.body.addStretch(1)
        # It has its place from the beginning: when it appears, no message is laid out again.
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        bar = self.verticalScrollBar()
        bar.rangeChanged.connect(lambda least, most: bar.setEnabled(most > least))
        bar.rangeChanged.connect(self._follow)
        bar.actionTriggered.connect(self._look)
        bar.sliderMoved.connect(self._look)

    def ask(
        self,
        text: str,
        place: int = 0,
        attached: Sequence[Attachment] = (),
        at: int | None = None,
    ) -> Question:
        """Adds a question at the end, or at position `at` from the top."""
        question = Question(text, place, attached)
        self._add(question, at)
        return question

    def answer(self, model: str, place: int = 0, at: int | None = None) -> Answer:
        answer = Answer(model, place)
        for button in (answer.retry, answer.other):
            button.setEnabled(self._may_again)
        self._add(answer, at)
        return answer

    def offer_earlier(self, count: int, show: Callable[[], None]) -> None:
        """Adds a button at the top. A click removes it and calls `show`, which adds messages."""
        words = tr("Show {count} earlier messages").format(count=count)
        button = Button(words, "reset")
        button.clicked.connect(lambda: self._drop(0))
        button.clicked.connect(show)
        button.clicked.connect(self._look_at_the_top)
        self.body.insertWidget(0, button, alignment=Qt.AlignmentFlag.AlignHCenter)

    def allow_again(self, *, allowed: bool) -> None:
        """Enables or disables the buttons that ask for another answer."""
        self._may_again = allowed
        for at in range(self.body.count()):
            item = self.body.itemAt(at)
            if item and isinstance(answer := item.widget(), Answer):
                answer.retry.setEnabled(allowed)
                answer.other.setEnabled(allowed)

    def cut(self, message: QWidget) -> None:
        """Removes this message and all messages after it."""
        first = self.body.indexOf(message)
        while first >= 0 and self.body.count() > first + 1:
            self._drop(first)

    def clear(self) -> None:
        while self.body.count() > 1:
            self._drop(0)
        self._following = True

    def _drop(self, at: int) -> None:
        item = self.body.takeAt(at)
        if item and (widget := item.widget()):
            widget.hide()
            widget.deleteLater()

    def _add(self, message: QWidget, at: int | None) -> None:
        if at is None:
            self._following = True
            at = self.body.count() - 1
        self.body.insertWidget(at, message)

    def _look(self, _: int) -> None:
        bar = self.verticalScrollBar()
        self._following = bar.sliderPosition() >= bar.maximum() - theme.HUGE

    def _look_at_the_top(self) -> None:
        self._following = False
        self.verticalScrollBar().setValue(0)

    def _follow(self, _least: int, most: int) -> None:
        if self._following:
            self.verticalScrollBar().setValue(most)
