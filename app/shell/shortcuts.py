"""The keyboard: every shortcut in one list, the help that shows it, and a way to go anywhere."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QFormLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.look import theme
from app.look.controls import Label, short_name
from app.look.safe_keyboard import SafeKeyboard
from app.look.translate import tr

_MOST = 60
_MOVES = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


@dataclass(frozen=True, slots=True)
class Shortcut:
    keys: str
    words: str


@dataclass(frozen=True, slots=True)
class Place:
    """Somewhere to go: a page, a chat, a model or a setting."""

    words: str
    kind: str
    go: Callable[[], object]
    synonyms: str = ""
    """Other words to find it by, which the list does not show."""

    def matches(self, wanted: Sequence[str]) -> bool:
        known = f"{self.words} {self.kind} {self.synonyms}".casefold()
        return all(word in known for word in wanted)

    def is_named(self, wanted: Sequence[str]) -> bool:
        return all(word in self.words.casefold() for word in wanted)


def shortcuts() -> tuple[Shortcut, ...]:
    """As the help shows them; `Window` binds the same keys."""
    return (
        Shortcut("Ctrl+N", tr("New chat")),
        Shortcut("Ctrl+K", tr("Go to a page, chat, model or setting")),
        Shortcut("Ctrl+,", tr("Settings")),
        Shortcut("Ctrl+1 … Ctrl+9", tr("The pages, in the order of the sidebar")),
        Shortcut("Enter", tr("Send the message")),
        Shortcut("Shift+Enter", tr("New line in the message")),
        Shortcut("Esc", tr("Stop the answer, close a message or a panel")),
        Shortcut("Tab, Shift+Tab", tr("Next or previous control")),
        Shortcut("F1", tr("This list")),
    )


class ShortcutHelp(SafeKeyboard, QDialog):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.take_focus_itself()
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Keyboard shortcuts"))
        form = QFormLayout()
        form.setHorizontalSpacing(theme.HUGE)
        form.setVerticalSpacing(theme.MEDIUM)
        for one in shortcuts():
            native = QKeySequence(one.keys).toString(QKeySequence.SequenceFormat.NativeText)
            form.addRow(Label(native or one.keys, "section"), Label(one.words))
        column = QVBoxLayout(self)
        column.setContentsMargins(*([theme.PAGE_MARGIN] * 4))
        column.setSpacing(theme.LARGE)
        column.addWidget(Label(tr("Keyboard shortcuts"), "headline"))
        column.addLayout(form)


class GoTo(SafeKeyboard, QDialog):
    """Type a few letters, choose with the arrows, press Enter."""

    def __init__(self, places: Sequence[Place], parent: QWidget) -> None:
        super().__init__(parent)
        self.take_focus_itself()
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Go to"))
        self.resize(*theme.DIALOG_SIZE)
        self._places = places
        self._found: list[Place] = []
        self.text = QLineEdit()
        self.text.setAccessibleName(tr("Go to a page, chat, model or setting"))
        self.text.setPlaceholderText(tr("Go to a page, chat, model or setting"))
        self.text.installEventFilter(self)
        self.text.textChanged.connect(self._find)
        self.text.returnPressed.connect(self._go)
        self.list = QListWidget()
        self.list.setAccessibleName(tr("Places found"))
        self.list.itemActivated.connect(lambda _: self._go())
        self.list.itemClicked.connect(lambda _: self._go())
        self.nothing = Label(tr("Nothing found."), "muted")
        column = QVBoxLayout(self)
        column.setSpacing(theme.MEDIUM)
        for part in (self.text, self.nothing, self.list):
            column.addWidget(part)
        self._find("")
        self.text.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """The arrows move in the list while the keyboard stays in the field."""
        is_key = event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent)
        if is_key and event.key() in _MOVES:  # type: ignore[attr-defined]
            self.list.keyPressEvent(event)  # type: ignore[arg-type]
            return True
        return super().eventFilter(watched, event)

    def _find(self, text: str) -> None:
        wanted = text.casefold().split()
        found = [place for place in self._places if place.matches(wanted)]
        found.sort(key=lambda place: not place.is_named(wanted))
        self._found = found[:_MOST]
        self.list.clear()
        for place in self._found:
            self.list.addItem(QListWidgetItem(f"{short_name(place.words)}   ·   {place.kind}"))
        self.list.setCurrentRow(0 if self._found else -1)
        self.nothing.setVisible(not self._found)

    def _go(self) -> None:
        row = self.list.currentRow()
        if 0 <= row < len(self._found):
            self.accept()
            self._found[row].go()
