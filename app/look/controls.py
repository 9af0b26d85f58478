"""The basic controls of all pages: labels, buttons, cards, columns, lists, banners."""

import re
from collections.abc import Callable, Hashable, Sequence
from html import escape
from math import ceil
from typing import Any, Generic, Literal, TypeVar

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFont,
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QBoxLayout,
    QButtonGroup,
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QSlider,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from app.look import icons, theme
from app.look.icons import Picture
from app.look.translate import join_sentences, locale, told, tr
from server.errors import AppError
from server.system.limits import one_line, printable

Tone = Literal["", "bad", "warn", "info", "plain"]
Kind = Literal["", "primary", "icon", "round", "suggestion"]
_COPIED_MS = 1500
"""Milliseconds that a copy button shows its success."""
LONGEST_LABEL = 20_000
LONGEST_HINT = 1000
LONGEST_NAME = 120
_BREAK = "\u200b"
"""A zero-width space: a line may break there."""
_JOINTS = re.compile(r"(?<=[./-])")
_UNBROKEN = 24
"""The most characters of a name without a place to break."""


_KEPT_HEIGHTS = 8


class Label(QLabel):
    """A label with plain text only. Names, reasons and log lines from outside are never markup."""

    def __init__(self, text: str = "", role: str = "", *, wrap: bool = False) -> None:
        super().__init__(showable(text))
        self._heights: dict[int, int] = {}
        """The heights for the last widths. Qt lays the text out anew whenever a layout asks."""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", role)
        self.setWordWrap(wrap)

    def setText(self, text: str) -> None:  # noqa: N802
        self._heights.clear()
        super().setText(showable(text))

    def heightForWidth(self, width: int) -> int:  # noqa: N802
        if width not in self._heights:
            if len(self._heights) >= _KEPT_HEIGHTS:
                self._heights.clear()
            # Else its style, and with it the font, could come after the height.
            self.ensurePolished()
            self._heights[width] = super().heightForWidth(width)
        return self._heights[width]

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        self._heights.clear()
        super().changeEvent(event)

    def text(self) -> str:
        """Without the places where `breakable` lets a line end."""
        return super().text().replace(_BREAK, "")

    def emphasise(self, sentence: str, **names: str) -> None:
        """Shows a sentence of ours with the names in it in bold. The names stay plain text."""
        bold = {
            place: f"<b>{escape(breakable(showable(name)))}</b>" for place, name in names.items()
        }
        self.setTextFormat(Qt.TextFormat.RichText)
        self._heights.clear()
        super().setText(escape(sentence).format(**bold))
        self.setAccessibleName(sentence.format(**names))

    def tell(self, text: str) -> None:
        """Shows the text. Hides the label if the text is empty."""
        self.setText(text)
        reveal(self, shown=bool(text))

    def set_role(self, role: str) -> None:
        self.setProperty("role", role)
        restyle(self)

    def let_select(self) -> None:
        """Lets people select the text, to copy it."""
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )


_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_PLAIN = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
_CHOSEN = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.MouseFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)
"""The ways in which the person moves the focus."""
_BACK = (
    Qt.FocusReason.ActiveWindowFocusReason,
    Qt.FocusReason.PopupFocusReason,
    Qt.FocusReason.MenuBarFocusReason,
)
"""The ways in which the focus comes back to a widget that had it before."""


class PushButton(QPushButton):
    """A button that Enter presses, as Space does, if the person moved the focus to it.

    If the program moved the focus, Enter may be meant for the widget that had it before.
    """

    _is_chosen = False

    def __init__(self, text: str = "") -> None:
        super().__init__(text)
        # In a dialog Qt would press it for Enter in any field.
        self.setAutoDefault(False)

    def await_enter(self) -> None:
        """Takes the focus so that Enter presses it. For pages where there is nothing else to do."""
        self._is_chosen = True
        self.setFocus(Qt.FocusReason.TabFocusReason)

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusInEvent(event)
        if event.reason() not in _BACK:
            self._is_chosen = event.reason() in _CHOSEN

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        is_enter = event.key() in _ENTER and event.modifiers() in _PLAIN
        if is_enter and self._is_chosen and not event.isAutoRepeat():
            self.click()
        else:
            super().keyPressEvent(event)


class Button(PushButton):
    """A push button whose icon follows the colours of the theme."""

    def __init__(self, text: str = "", icon: str = "", kind: Kind = "", name: str = "") -> None:
        super().__init__("" if kind in ("icon", "round") else text)
        self._icon = icon
        self.setProperty("kind", kind)
        self.setAccessibleName(one_line(name or text))
        if not self.text():
            self.setToolTip(hint(name or text))
        self.setIconSize(QSize(theme.ICON, theme.ICON))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._draw()

    def set_icon(self, icon: str, name: str) -> None:
        self._icon = icon
        self.setAccessibleName(name)
        self.setToolTip(hint(name))
        self._draw()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() in (*theme.LOOK_CHANGES, QEvent.Type.EnabledChange):
            self._draw()

    def _draw(self) -> None:
        if not self._icon:
            return
        colours = theme.colours_of(QGuiApplication.palette())
        colour = colours.text if self.property("kind") != "icon" else colours.muted
        if self.property("kind") in ("primary", "round"):
            colour = colours.on_accent
        if not self.isEnabled():
            colour = colours.muted
        self.setIcon(icons.icon(self._icon, colour, theme.ICON))


class CopyButton(Button):
    """A button that copies text to the clipboard and shows that for a moment."""

    def __init__(self, what: str, text: Callable[[], str], kind: Kind = "") -> None:
        super().__init__(tr("Copy"), "copy", kind, name=tr("Copy {what}").format(what=what))
        self._what = what
        self._text = text
        self._back = delay(self, _COPIED_MS, self._rest)
        self.clicked.connect(self._copy)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._text())
        self.set_icon("check", tr("Copied {what}").format(what=self._what))
        if self.text():
            self.setText(tr("Copied"))
        self._back.start()

    def _rest(self) -> None:
        self.set_icon("copy", tr("Copy {what}").format(what=self._what))
        if self.text():
            self.setText(tr("Copy"))


def delay(owner: QObject, wait_ms: int, work: Callable[[], object]) -> QTimer:
    """Returns a timer that calls `work` once, `wait_ms` after the last call of its `start`."""
    timer = QTimer(owner)
    timer.setSingleShot(True)
    timer.setInterval(wait_ms)
    timer.timeout.connect(work)
    return timer


class Card(QFrame):
    """A box around things that belong together."""

    def __init__(self, tone: Tone = "") -> None:
        super().__init__()
        self.setProperty("tone", tone)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(*([theme.LARGE] * 4))
        self.column.setSpacing(theme.MEDIUM)


class Column(QScrollArea):
    """A page's content: a column of readable width, which scrolls if necessary."""

    def __init__(self) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        inner = QWidget()
        inner.setObjectName("column")
        inner.setMaximumWidth(theme.READING_WIDTH + 2 * theme.PAGE_MARGIN)
        self.body = QVBoxLayout(inner)
        self.body.setContentsMargins(*([theme.PAGE_MARGIN] * 4))
        self.body.setSpacing(theme.LARGE)
        self.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.setWidget(inner)

    def fill(self, page: QWidget) -> None:
        """Makes this column the whole content of the page."""
        self.body.addStretch(1)
        page.setLayout(stack(self))


def showable(text: str) -> str:
    """Returns text from outside for a label, without control characters and not too long.

    A label lays out all of its text at once, so a very long text would block the window.
    """
    if len(text) > LONGEST_LABEL:
        text = f"{text[:LONGEST_LABEL]}…"
    return printable(text)


def hint(text: str) -> str:
    """Returns the text for a tooltip. Qt would take text that looks like HTML for HTML."""
    text = shortened(printable(text), LONGEST_HINT)
    return f"<p>{escape(text)}</p>" if "<" in text else text


class SecretsPlace(Label):
    """A label that says where a secret is kept."""

    def __init__(self) -> None:
        super().__init__("", "small", wrap=True)

    def show_place(self, plain_file: str) -> None:
        self.setText(secrets_words(plain_file))
        self.set_role("warn" if plain_file else "small")


def secrets_words(plain_file: str) -> str:
    """Returns where a secret is kept. It is shown where a secret is entered."""
    if not plain_file:
        return tr("It is stored in the system's keyring.")
    words = tr(
        "This system has no usable keyring: it is stored unencrypted in {file}, readable "
        "only by you."
    )
    return words.format(file=breakable(plain_file))


def short_name(text: str) -> str:
    """Returns a name from outside for a line of a list."""
    return shortened(one_line(text), LONGEST_NAME)


def for_menu(text: str) -> str:
    """Returns a name for a menu or button, where & would underline the next letter."""
    return short_name(text).replace("&", "&&")


def shortened(text: str, most: int = LONGEST_NAME) -> str:
    """Shortens a text in the middle, because the end of an address shows whose it is."""
    if len(text) <= most:
        return text
    return f"{text[: most // 2]}…{text[len(text) - most // 2 :]}"


def breakable(text: str) -> str:
    """Lets a long name wrap after a dot, a slash or a hyphen, and within long parts."""
    parts = _JOINTS.split(text)
    pieces = [part[at : at + _UNBROKEN] for part in parts for at in range(0, len(part), _UNBROKEN)]
    return _BREAK.join(pieces)


def name_label(name: str, role: str = "section") -> Label:
    """Returns a label for a name from elsewhere. A long name wraps; it does not widen the page."""
    label = Label(breakable(name), role, wrap=True)
    label.setAccessibleName(showable(name))
    return label


def reveal(widget: QWidget, *, shown: bool) -> None:
    """Shows or hides a widget. A widget without a parent is not shown: it would become a window."""
    if not shown or widget.parentWidget():
        widget.setVisible(shown)


Part = QWidget | QLayout | int
"""A part of a row or column; 0 is a stretch."""


def row(
    *parts: Part, spacing: int = theme.SMALL, grows: QWidget | QLayout | None = None
) -> QHBoxLayout:
    """Places parts side by side. The part named by `grows` takes the remaining space."""
    made = QHBoxLayout()
    made.setContentsMargins(0, 0, 0, 0)
    made.setSpacing(spacing)
    put(made, *parts, grows=grows)
    return made


def stack(
    *parts: Part, spacing: int = theme.TINY, grows: QWidget | QLayout | None = None
) -> QVBoxLayout:
    """Places parts from top to bottom. The part named by `grows` takes the remaining space."""
    made = QVBoxLayout()
    made.setContentsMargins(0, 0, 0, 0)
    made.setSpacing(spacing)
    put(made, *parts, grows=grows)
    return made


def put(layout: QBoxLayout, *parts: Part, grows: QWidget | QLayout | None = None) -> None:
    """Adds parts at the end of a layout."""
    for part in parts:
        if isinstance(part, QWidget):
            layout.addWidget(part, int(part is grows))
        elif isinstance(part, QLayout):
            layout.addLayout(part, int(part is grows))
        else:
            layout.addStretch(1)


def drop(layout: QLayout, widget: QWidget) -> None:
    """Removes a widget and deletes it."""
    layout.removeWidget(widget)
    widget.hide()
    widget.deleteLater()


def drop_all(layout: QLayout) -> None:
    while item := layout.takeAt(0):
        if widget := item.widget():
            drop(layout, widget)


def field(name: str, words: str = "") -> QLineEdit:
    """Returns a line to write in. `words` is shown while it is empty."""
    made = QLineEdit()
    made.setAccessibleName(name)
    made.setPlaceholderText(words)
    return made


def search_field(words: str) -> QLineEdit:
    made = field(words, words)
    made.setClearButtonEnabled(True)
    return made


def line_to_copy(name: str, words: str = "") -> QLineEdit:
    """Returns a read-only line to copy, such as an address or a key."""
    made = field(name, words)
    made.setReadOnly(True)
    made.setFont(theme.mono())
    return made


def form(controls: dict[str, QWidget]) -> QFormLayout:
    """Returns a form of controls, each with its title before it."""
    made = QFormLayout()
    made.setSpacing(theme.SMALL)
    made.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    for title, control in controls.items():
        control.setAccessibleName(title)
        made.addRow(Label(title), control)
    return made


def divider() -> QFrame:
    line = QFrame()
    line.setObjectName("divider")
    line.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    return line


def restyle(widget: QWidget) -> None:
    """Makes Qt apply the style sheet again, after a property that it selects by has changed."""
    widget.style().unpolish(widget)
    widget.style().polish(widget)


LONGEST_LINE = 1000
"""The most characters of a line: Qt lays out a whole line, however little is visible."""


class ReadBox(QPlainTextEdit):
    """A read-only box of text in a monospaced font."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName("code")
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setAccessibleName(name)
        self.setFont(theme.mono())


class CodeBox(ReadBox):
    """A read-only box of code that is as tall as its text."""

    _most_lines = 24
    """Set here because Qt calls `changeEvent` during the parent's constructor."""

    def __init__(self, name: str, most_lines: int = 24) -> None:
        super().__init__(name)
        self._most_lines = most_lines
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.horizontalScrollBar().rangeChanged.connect(lambda _least, _most: self._fit())

    def show_text(self, text: str) -> None:
        text = text_to_read(text)
        if text == self.toPlainText():
            return
        self.setPlainText(text)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        """Fits the height to a new font, which the style sets when the box is shown or restyled."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        lines = min(self.blockCount(), self._most_lines)
        # A line is laid out a little higher than the font's metrics say.
        high = ceil(self.blockBoundingRect(self.document().firstBlock()).height() * lines)
        bar = self.horizontalScrollBar()
        below = bar.sizeHint().height() if bar.maximum() else 0
        self.setFixedHeight(high + below + 2 * theme.CODE_PADDING + theme.SMALL)


def text_to_read(text: str) -> str:
    """Returns plain text that a box lays out quickly: overlong lines are split."""
    return "\n".join(
        line[at : at + LONGEST_LINE]
        for line in printable(text).split("\n")
        for at in range(0, max(1, len(line)), LONGEST_LINE)
    )


class _Segment(PushButton):
    """One of the buttons of `Segments`: wide enough for its words in bold, as the chosen one."""

    def sizeHint(self) -> QSize:  # noqa: N802
        bold = self.font()
        bold.setWeight(QFont.Weight.DemiBold)
        plain_px, bold_px = (
            QFontMetrics(font).horizontalAdvance(self.text()) for font in (self.font(), bold)
        )
        return super().sizeHint() + QSize(max(0, bold_px - plain_px), 0)


class Segments(QWidget):
    """A row of buttons of which one is chosen. Tab reaches the chosen one, arrow keys change it."""

    chosen = Signal(int)

    def __init__(self, name: str, texts: tuple[str, ...]) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self._group = QButtonGroup(self)
        self.buttons: list[_Segment] = []
        for number, text in enumerate(texts):
            button = _Segment(text)
            button.setProperty("kind", "segment")
            button.setCheckable(True)
            button.setAccessibleName(text)
            button.setCursor(Qt.CursorShape.PointingHandCursor)
            self._group.addButton(button, number)
            self.buttons.append(button)
        self.setLayout(row(*self.buttons, 0, spacing=theme.TINY))
        self.buttons[0].setChecked(True)
        self._group.idClicked.connect(self.chosen)

    def choose(self, number: int) -> None:
        self.buttons[number].setChecked(True)
        self.chosen.emit(number)

    def set_text(self, number: int, text: str) -> None:
        self.buttons[number].setText(text)
        self.buttons[number].setAccessibleName(text)


class NoWheel:
    """A mixin before a Qt class: the wheel scrolls the page instead of changing the value."""

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        event.ignore()


class _Steps(NoWheel, QSlider):
    pass


class Choice(NoWheel, QComboBox):
    pass


class NumberBox(NoWheel, QSpinBox):
    def __init__(self) -> None:
        super().__init__()
        _prepare_number(self)


class FractionBox(NoWheel, QDoubleSpinBox):
    def __init__(self) -> None:
        super().__init__()
        _prepare_number(self)


def _prepare_number(box: QAbstractSpinBox) -> None:
    """Sets the locale and the margin, since a style sheet's padding does not reach the text."""
    box.setLocale(locale())
    box.lineEdit().setTextMargins(theme.SMALL, 0, 0, 0)


class Slider(QWidget):
    """A slider over a list of values, with its title and the chosen value above it."""

    changed = Signal()

    def __init__(self, title: str, words: Callable[[Any], str], note: str = "") -> None:
        super().__init__()
        self._values: Sequence[Any] = (0,)
        self._words = words
        self.title = Label(title)
        self.chosen = Label("", "section")
        self.note = Label("", "small", wrap=True)
        self.slider = _Steps(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName(title)
        self.slider.setAccessibleDescription(note)
        self.slider.valueChanged.connect(self._tell)
        self.slider.valueChanged.connect(self.changed)
        self.setLayout(stack(row(self.title, 0, self.chosen), self.slider, self.note))
        self.note.tell(note)

    def offer(self, values: Sequence[Any], chosen: Any) -> None:
        """Sets the values, and selects the nearest to `chosen`."""
        self._values = values
        with QSignalBlocker(self.slider):
            self.slider.setRange(0, len(values) - 1)
            self.slider.setPageStep(max(1, len(values) // 10))
            self.slider.setValue(_nearest(values, chosen))
        self._tell()

    def value(self) -> Any:
        return self._values[self.slider.value()]

    def _tell(self) -> None:
        words = self._words(self.value())
        self.chosen.setText(words)
        # A screen reader would otherwise only say the number of the step.
        self.slider.setAccessibleName(f"{self.title.text()}: {words}")


def _nearest(values: Sequence[Any], chosen: Any) -> int:
    if chosen in values:
        return list(values).index(chosen)
    distances = [abs(value - chosen) if value is not None else float("inf") for value in values]
    return distances.index(min(distances))


T = TypeVar("T")
Row = TypeVar("Row", bound=QWidget)


class Rows(Generic[T, Row]):
    """Rows for items, by key. `make` builds a row, `show` fills it; `layout` goes into the page."""

    def __init__(
        self,
        key: Callable[[T], Hashable],
        make: Callable[[T], Row],
        show: Callable[[Row, T], None] = lambda _row, _item: None,
        *,
        lined: bool = True,
    ) -> None:
        self.layout = QVBoxLayout()
        self.layout.setSpacing(theme.MEDIUM if lined else theme.LARGE)
        self._is_lined = lined
        self._key, self._make, self._show = key, make, show
        self._lines: dict[Hashable, QWidget] = {}
        """Each row with its divider above it."""
        self._dividers: dict[Hashable, QWidget] = {}
        self._rows: dict[Hashable, Row] = {}

    @property
    def rows(self) -> list[Row]:
        """The rows in the order in which they are shown."""
        return list(self._rows.values())

    def show(self, items: Sequence[T]) -> None:
        wanted = {self._key(item): item for item in items}
        for key in [key for key in self._lines if key not in wanted]:
            self._drop(key)
        for key, item in wanted.items():
            if key not in self._rows:
                self._add(key, item)
            self._show(self._rows[key], item)
        self._rows = {key: self._rows[key] for key in wanted}
        for place, key in enumerate(wanted):
            if self.layout.indexOf(self._lines[key]) != place:
                self.layout.removeWidget(self._lines[key])
                self.layout.insertWidget(place, self._lines[key])
            self._dividers[key].setVisible(place > 0 and self._is_lined)

    def _add(self, key: Hashable, item: T) -> None:
        row = self._make(item)
        line, above = QWidget(), divider()
        line.setLayout(stack(above, row, spacing=theme.MEDIUM))
        self._rows[key], self._lines[key], self._dividers[key] = row, line, above
        self.layout.addWidget(line)

    def _drop(self, key: Hashable) -> None:
        del self._rows[key], self._dividers[key]
        drop(self.layout, self._lines.pop(key))


class Removable(QWidget):
    """A row that can be removed. Its button asks first, and `sure` does it."""

    def __init__(self, name: str, remove: Button, sure: Button) -> None:
        super().__init__()
        self.remove, self.sure = remove, sure
        self.keep = Button(tr("Cancel"), name=tr("Cancel: keep {name}").format(name=name))
        remove.clicked.connect(lambda: self.ask(asking=True))
        self.keep.clicked.connect(lambda: self.ask(asking=False))

    def ask(self, *, asking: bool) -> None:
        """Shows or hides the question whether to remove it."""
        reveal(self.sure, shown=asking)
        reveal(self.keep, shown=asking)
        reveal(self.remove, shown=not asking)


_PICTURES: dict[Tone, tuple[str, str]] = {
    "bad": ("failed", "bad"),
    "warn": ("warning", "warn"),
    "info": ("info", "accent"),
}


def advice_for(error: AppError) -> str:
    """Returns what to do about an error, if its sentence does not say so."""
    advice = {
        "model_damaged": tr("Download the file again, or choose another one."),
        "out_of_memory": tr("Close other programs, or choose a smaller model."),
        "disk_full": tr("Free some space and try again."),
        "link_lost": tr("Moat starts it again by itself. Try again in a moment."),
    }
    return advice.get(error.code, "")


class Details(QWidget):
    """The technical details of a failure, shown on request."""

    def __init__(self) -> None:
        super().__init__()
        self.switch = Button(tr("Details"), kind="suggestion", name=tr("Technical details"))
        self.switch.setCheckable(True)
        self.text = Label("", "small", wrap=True)
        self.text.setFont(theme.mono())
        self.text.setAccessibleName(tr("Technical details"))
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.switch.toggled.connect(self.text.setVisible)
        self.setLayout(stack(row(self.switch, 0), self.text))
        self.tell("")

    def tell(self, text: str) -> None:
        if text != self.text.text():
            self.switch.setChecked(False)
        self.text.setText(text)
        self.text.setVisible(self.switch.isChecked())
        reveal(self, shown=bool(text))


class Remark(QWidget):
    """A short text about the state or a failure of something. Takes no space if it is empty."""

    def __init__(self, role: str = "small") -> None:
        super().__init__()
        self.words = Label("", role, wrap=True)
        self.details: Details | None = None
        self._role = role
        self._column = stack(self.words)
        self.setLayout(self._column)
        self.hide()

    def text(self) -> str:
        return self.words.text()

    def fail(self, error: AppError) -> None:
        """Shows what failed, what to do, and on request the technical details."""
        words = join_sentences((told(str(error)), advice_for(error)))
        self.tell(words, "bad", error.details)

    def tell(self, text: str, role: str = "", details: str = "") -> None:
        self.words.setText(text)
        self.words.set_role(role or self._role)
        if details and self.details is None:
            self.details = Details()
            self._column.addWidget(self.details)
        if self.details is not None:
            self.details.tell(details)
        reveal(self, shown=bool(text))


class Banner(Card):
    """A coloured box with a message, advice, technical details and buttons."""

    dismissed = Signal()

    def __init__(self, tone: Tone, title: str = "", text: str = "", *, closes: bool = True) -> None:
        super().__init__(tone)
        name, role = _PICTURES[tone]
        self.title = Label(title, "section", wrap=True)
        self.text = Label(text, wrap=True)
        self.text.let_select()
        self.advice = Label("", "muted", wrap=True)
        self.details = Details()
        self._buttons = row(0)
        words = stack(self.title, self.text, self.advice, self.details, self._buttons)
        line = QHBoxLayout()
        line.setSpacing(theme.MEDIUM)
        middle = Qt.AlignmentFlag.AlignVCenter if closes else Qt.AlignmentFlag.AlignTop
        line.addWidget(Picture(name, theme.LARGE, role), 0, middle)
        line.addLayout(words, 1)
        if closes:
            self.close_button = Button(tr("Dismiss"), "close", "icon", name=tr("Dismiss"))
            self.close_button.clicked.connect(self.dismissed)
            line.addWidget(self.close_button, 0, middle)
        margin, high = theme.MEDIUM + theme.TINY, theme.SMALL if closes else theme.MEDIUM
        self.column.setContentsMargins(margin, high, margin if not closes else high, high)
        self.column.addLayout(line)
        self.tell(title, text)

    def add_button(self, button: Button) -> None:
        self._buttons.setContentsMargins(0, theme.SMALL, 0, 0)
        self._buttons.insertWidget(self._buttons.count() - 1, button)

    def fail(self, title: str, error: AppError) -> None:
        """Shows what failed, what to do, and on request the technical details."""
        self.tell(title, told(str(error)), advice_for(error), error.details)

    def tell(self, title: str, text: str, advice: str = "", details: str = "") -> None:
        self.title.tell(title)
        self.text.tell(text)
        self.advice.tell(advice)
        self.details.tell(details)
        self.setAccessibleName(title or text)
