"""What a flow must still know: a form in the window, answered or closed."""

import json
from typing import cast

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from app.look import theme
from app.look.controls import Button, Card, Label, row
from app.look.rows import Rows
from app.look.translate import tr
from app.plugins.answer_fields import AnswerField, Unfit, field_for
from server.chat import Json
from server.face.plugins import FormCard


class AnswerGrid(QWidget):
    """A field for each property of a schema, with its title and what it is about."""

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
            words = QVBoxLayout()
            words.setSpacing(2)
            words.addWidget(Label(str(part.get("title") or name)))
            if about := str(part.get("description") or ""):
                words.addWidget(Label(about, "small", wrap=True))
            grid.addLayout(words, place, 0)
            grid.addWidget(field, place, 1)

    def values(self) -> Json:
        """What was filled in; raises Unfit with the name of a field that is wrong."""
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
        """Every required field is filled in; raises Unfit as `values` does."""
        values = self.values()
        return all(name in values for name in self._required)


class FormBox(Card):
    answered = Signal(str, str)
    """Its id and the values as JSON; empty for no answer."""

    def __init__(self, form: FormCard) -> None:
        super().__init__("info")
        self._id = form.id
        self._grid = AnswerGrid(json.loads(form.schema))
        self._grid.changed.connect(self._check)
        self.fields = self._grid.fields
        self.problem = Label("", "bad", wrap=True)
        heading = tr("{plugin} needs more information").format(plugin=form.plugin)
        self.column.addWidget(Label(heading, "section", wrap=True))
        self.column.addWidget(self._grid)
        self.column.addWidget(self.problem)
        self.send = Button(tr("Continue"), "check", "primary")
        self.close_form = Button(tr("Do not answer"), "close")
        self.send.clicked.connect(self._send)
        self.close_form.clicked.connect(lambda: self._answer(""))
        self.column.addLayout(row(self.send, self.close_form, 0))
        self.problem.hide()
        self._check()

    def values(self) -> Json:
        return self._grid.values()

    def open_again(self) -> None:
        """As it was filled in."""
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

    def _send(self) -> None:
        self._answer(json.dumps(self.values(), ensure_ascii=False))

    def _answer(self, values: str) -> None:
        for button in (self.send, self.close_form):
            button.setEnabled(False)
        self.answered.emit(self._id, values)


class Forms(QWidget):
    """The oldest form that waits; takes no room when there is none."""

    answered = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        self.list: Rows[FormCard, FormBox] = Rows(lambda one: one.id, self._make)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.PAGE_MARGIN, theme.MEDIUM, theme.PAGE_MARGIN, 0)
        column.addLayout(self.list.layout)
        self.hide()

    def show_forms(self, waiting: tuple[FormCard, ...]) -> None:
        self.list.show(waiting[:1])
        self.setVisible(bool(waiting))

    def open_again(self) -> None:
        """The answer was refused."""
        for box in self.list.rows:
            box.open_again()

    def _make(self, form: FormCard) -> FormBox:
        made = FormBox(form)
        made.answered.connect(self.answered)
        return made
