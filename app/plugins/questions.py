"""The questions of plugins to a person: forms for missing values, and calls to approve."""

import json
import math
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeVar, cast

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QGridLayout,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

from app.look import theme
from app.look.controls import Button, Card, CodeBox, Label, Rows, put, row, short_name, stack
from app.look.icons import Picture
from app.look.translate import join_sentences, tr
from server.chat import Json
from server.face.plugins import Approval, FormCard, PluginCard

_DECIMAL_COMMA = re.compile(r"[^.,]*,(?!\d{3}$)[^.,]*")
"""A number with a single comma that is not before three digits: those could be thousands."""


class Unfit(Exception):
    """Raised when a field holds a wrong value. The message says what it must be."""


class AnswerField(Protocol):
    """A control of a form. `value` may raise Unfit."""

    changed: Any

    def value(self) -> Any:
        """Returns the value; None if nothing was filled in."""
        ...


def field_for(name: str, part: Json) -> "QWidget":
    """Returns the control for a property. Its accessible name is the property's."""
    made: QWidget
    if part.get("enum"):
        made = ChoiceField(part["enum"])
    elif part.get("format") == "binary":
        made = FileField(name)
    elif part.get("type") == "array" and part.get("items", {}).get("format") == "binary":
        made = FilesField(name)
    elif part.get("type") == "boolean":
        made = SwitchField()
    elif part.get("type") in ("integer", "number"):
        made = NumberField(whole=part["type"] == "integer")
    elif part.get("type") in ("array", "object"):
        made = JsonField(part["type"])
    else:
        made = TextField()
    made.setAccessibleName(name)
    made.setAccessibleDescription(str(part.get("description") or ""))
    return made


class TextField(QLineEdit):
    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.textChanged.connect(lambda _: self.changed.emit())

    def value(self) -> Any:
        return self.text().strip() or None


class NumberField(TextField):
    def __init__(self, *, whole: bool) -> None:
        super().__init__()
        self._whole = whole

    def value(self) -> Any:
        text = self.text().strip()
        if not text:
            return None
        if _DECIMAL_COMMA.fullmatch(text):
            text = text.replace(",", ".")
        if "," in text:
            raise Unfit(tr("a number without thousands separators, such as 10000"))
        words = tr("a whole number") if self._whole else tr("a number")
        try:
            number = int(text) if self._whole else float(text)
        except ValueError:
            raise Unfit(words) from None
        if not math.isfinite(number):
            raise Unfit(words)
        return number


class ChoiceField(QComboBox):
    changed = Signal()

    def __init__(self, choices: list[Any]) -> None:
        super().__init__()
        self.addItem(tr("Choose"), None)
        for choice in choices:
            self.addItem(short_name(str(choice)), choice)
        self.currentIndexChanged.connect(lambda _: self.changed.emit())

    def value(self) -> Any:
        return self.currentData()


class SwitchField(QCheckBox):
    changed = Signal()

    def __init__(self) -> None:
        super().__init__(tr("Yes"))
        self.toggled.connect(lambda _: self.changed.emit())

    def value(self) -> Any:
        return self.isChecked()


class JsonField(QPlainTextEdit):
    """A field for a list or an object as JSON. A list may also have one item per line."""

    changed = Signal()

    def __init__(self, kind: str) -> None:
        super().__init__()
        self._kind = kind
        self.setTabChangesFocus(True)
        self.setFixedHeight(theme.LINES_HEIGHT)
        self.setPlaceholderText(tr("One per line") if kind == "array" else "{}")
        self.textChanged.connect(self.changed)

    def value(self) -> Any:
        text = self.toPlainText().strip()
        if not text:
            return None
        if self._kind == "array" and not text.startswith("["):
            return [line.strip() for line in text.splitlines() if line.strip()]
        try:
            found = json.loads(text)
            json.dumps(found, allow_nan=False)
        except ValueError:
            raise Unfit("JSON") from None
        if not isinstance(found, list if self._kind == "array" else dict):
            raise Unfit("JSON")
        return found


class FileField(QWidget):
    """A file that the person picks. Its path cannot be typed."""

    changed = Signal()

    def __init__(self, name: str) -> None:
        super().__init__()
        self.path = ""
        self.pick = Button(tr("Choose a file"), "plus", name=f"{tr('Choose a file')}: {name}")
        self.chosen = Label("", "small", wrap=True)
        self.pick.clicked.connect(self._pick)
        self.setLayout(row(self.pick, self.chosen, grows=self.chosen))

    def take(self, path: str) -> None:
        self.path = path
        self.chosen.setText(path)
        self.changed.emit()

    def value(self) -> Any:
        return self.path or None

    def _pick(self) -> None:
        picked, _ = QFileDialog.getOpenFileName(self, tr("Choose a file"))
        if picked:
            self.take(picked)


class FilesField(FileField):
    """Several files, picked together or one after another."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.paths: list[str] = []

    def take(self, path: str) -> None:
        self.paths = [*dict.fromkeys((*self.paths, path))]
        self.chosen.setText("\n".join(self.paths))
        self.changed.emit()

    def value(self) -> Any:
        return self.paths or None

    def _pick(self) -> None:
        picked, _ = QFileDialog.getOpenFileNames(self, tr("Choose a file"))
        for path in picked:
            self.take(path)


class AnswerGrid(QWidget):
    """A form with a field, a title and a description for each property of a schema."""

    changed = Signal()

    def __init__(self, schema: Json) -> None:
        super().__init__()
        self.fields: dict[str, QWidget] = {}
        self._required = schema.get("required", [])
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.LARGE)
        grid.setColumnStretch(1, 1)
        for place, (name, part) in enumerate(schema["properties"].items()):
            field = field_for(name, part)
            cast(AnswerField, field).changed.connect(self.changed)
            self.fields[name] = field
            words = stack(Label(str(part.get("title") or name)), spacing=2)
            if about := str(part.get("description") or ""):
                words.addWidget(Label(about, "small", wrap=True))
            grid.addLayout(words, place, 0)
            grid.addWidget(field, place, 1)

    def values(self) -> Json:
        """Returns the values that were filled in. Raises Unfit with the name of a wrong field."""
        found: Json = {}
        for name, field in self.fields.items():
            try:
                value = cast(AnswerField, field).value()
            except Unfit as error:
                words = tr("{name} must be {what}.").format(name=name, what=str(error))
                raise Unfit(words) from None
            if value is not None:
                found[name] = value
        return found

    def is_whole(self) -> bool:
        """Whether every required field is filled in. Raises Unfit as `values` does."""
        values = self.values()
        return all(name in values for name in self._required)


Asked = TypeVar("Asked", Approval, FormCard)


def name_plugin(asked: Asked, cards: Sequence[PluginCard]) -> Asked:
    """Returns the question with the plugin's name. Adds the key if the name differs from it."""
    for card in cards:
        if card.key == asked.plugin:
            is_same = card.name.casefold().replace(" ", "-") == card.key.casefold()
            return replace(asked, plugin=card.name if is_same else f"{card.name} ({card.key})")
    return asked


class FormBox(Card):
    answered = Signal(str, str)
    """Emitted with the form's id and the values as JSON; empty for no answer."""

    def __init__(self, form: FormCard) -> None:
        super().__init__("info")
        self._id = form.id
        self._grid = AnswerGrid(json.loads(form.schema))
        self._grid.changed.connect(self._check)
        self.fields = self._grid.fields
        self.problem = Label("", "bad", wrap=True)
        heading = tr("{plugin} needs more information").format(plugin=form.plugin)
        self.send = Button(tr("Continue"), "check", "primary")
        self.close_form = Button(tr("Do not answer"), "close")
        self.send.clicked.connect(
            lambda: self._answer(json.dumps(self.values(), ensure_ascii=False))
        )
        self.close_form.clicked.connect(lambda: self._answer(""))
        put(self.column, Label(heading, "section", wrap=True), self._grid, self.problem)
        put(self.column, row(self.send, self.close_form, 0))
        self.problem.hide()
        self._check()

    def values(self) -> Json:
        return self._grid.values()

    def open_again(self) -> None:
        """Enables the form again, as it was filled in."""
        self.close_form.setEnabled(True)
        self._check()

    def _check(self) -> None:
        try:
            is_whole = self._grid.is_whole()
        except Unfit as error:
            self.problem.tell(str(error))
            self.send.setEnabled(False)
            return
        self.problem.hide()
        self.send.setEnabled(is_whole)

    def _answer(self, values: str) -> None:
        for button in (self.send, self.close_form):
            button.setEnabled(False)
        self.answered.emit(self._id, values)


_MOST_LINES = 12


class ApprovalCard(Card):
    answered = Signal(str, str)
    """Emitted with the approval's id, and once, always or deny."""

    def __init__(self, approval: Approval) -> None:
        super().__init__("warn")
        number = approval.id
        what = approval.title
        once = tr("Allow once: {what}").format(what=what)
        self.once = Button(tr("Allow once"), "check", "primary", once)
        self.always = Button(tr("Always allow"), name=tr("Always allow: {what}").format(what=what))
        self.deny = Button(tr("Deny"), "close", name=tr("Deny: {what}").format(what=what))
        self._answers = {"once": self.once, "always": self.always, "deny": self.deny}
        for decision, button in self._answers.items():
            button.clicked.connect(lambda _=False, word=decision: self._answer(number, word))
        heading = tr("{plugin} asks: {what}").format(plugin=approval.plugin, what=what)
        picture = Picture("warning", theme.LARGE, "warn")
        title = Label(heading, "section", wrap=True)
        head = row(picture, title, spacing=theme.MEDIUM, grows=title)
        self.sent = CodeBox(tr("Request to be sent"), _MOST_LINES)
        self.sent.show_text(sent_words(approval))
        self.left = Label("", "small")
        answers = row(self.once, self.always, self.deny, 0, self.left)
        put(self.column, head, Label(asker_words(approval), "small", wrap=True), self.sent, answers)
        self._expires_at = approval.expires_at
        self._clock = QTimer(self)
        self._clock.setInterval(1000)
        self._clock.timeout.connect(self.show_left)
        self.always.setHidden(not approval.can_always)
        self.left.hide()
        if approval.expires_at:
            self.show_left()
            self._clock.start()

    def show_left(self) -> None:
        """Shows the time that is left until the call is denied."""
        left = max(0, math.ceil(self._expires_at - time.time()))
        minutes, seconds = divmod(left, 60)
        words = tr("Denied automatically in {time}")
        self.left.tell(words.format(time=f"{minutes}:{seconds:02}"))

    def open_again(self) -> None:
        self._open(is_open=True)

    def _open(self, *, is_open: bool) -> None:
        for button in self._answers.values():
            button.setEnabled(is_open)

    def _answer(self, number: str, decision: str) -> None:
        self._open(is_open=False)
        self.answered.emit(number, decision)


Box = TypeVar("Box", FormBox, ApprovalCard)


class Waiting(QWidget, Generic[Asked, Box]):
    """The open questions of plugins. It takes no space if there are none."""

    answered = Signal(str, str)

    def __init__(self, box: Callable[[Asked], Box]) -> None:
        super().__init__()
        self._box: Callable[[Asked], Box] = box
        self.list: Rows[Asked, Box] = Rows(lambda one: one.id, self._make)
        column = stack(self.list.layout)
        column.setContentsMargins(theme.PAGE_MARGIN, theme.MEDIUM, theme.PAGE_MARGIN, 0)
        self.setLayout(column)
        self.hide()

    def show_waiting(self, waiting: tuple[Asked, ...]) -> None:
        """Shows only the oldest question. People read a single one, but click several away."""
        self.list.show(waiting[:1])
        self.setVisible(bool(waiting))

    def open_again(self) -> None:
        """Enables the question again, after the answer was lost or refused."""
        for box in self.list.rows:
            box.open_again()

    def _make(self, asked: Asked) -> Box:
        made = self._box(asked)
        made.answered.connect(self.answered)
        return made


def asker_words(approval: Approval) -> str:
    """Describes the risk and, at a program's first use of the plugin, who asks."""
    risk = risk_words(approval.risk)
    if not approval.client:
        return risk
    words = tr("{client} wants to use this plugin for the first time.")
    return join_sentences((words.format(client=approval.client), risk))


def risk_words(risk: str) -> str:
    return {
        "read": tr("It only reads data."),
        "change": tr("It makes changes. Review the request before you allow it."),
        "danger": tr("It may cause damage that cannot be undone."),
    }[risk]


def sent_words(approval: Approval) -> str:
    lines = [approval.where, *(f"{name}: {value}" for name, value in approval.headers)]
    body = approval.body or approval.arguments
    return "\n".join(line for line in (*lines, body) if line)
