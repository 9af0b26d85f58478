"""Calls of plugins that wait for a person: exactly what would be sent, and three answers."""

import math
import time

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.look import theme
from app.look.code_box import CodeBox
from app.look.controls import Button, Card, Label, row
from app.look.picture import Picture
from app.look.rows import Rows
from app.look.translate import tr
from server.face.plugins import Approval

_MOST_LINES = 12


class ApprovalCard(Card):
    answered = Signal(str, str)
    """Its id, and once, always or deny."""

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
        head = row(Picture("warning", theme.LARGE, "warn"), spacing=theme.MEDIUM)
        head.addWidget(Label(heading, "section", wrap=True), 1)
        self.column.addLayout(head)
        self.column.addWidget(Label(asker_words(approval), "small", wrap=True))
        self.sent = CodeBox(tr("Request to be sent"), _MOST_LINES)
        self.sent.show_text(sent_words(approval))
        self.column.addWidget(self.sent)
        self.left = Label("", "small")
        self._expires_at = approval.expires_at
        self._clock = QTimer(self)
        self._clock.setInterval(1000)
        self._clock.timeout.connect(self.show_left)
        answers = row(self.once, self.always, self.deny, 0, self.left)
        self.column.addLayout(answers)
        self.always.setHidden(not approval.can_always)
        self.left.hide()
        if approval.expires_at:
            self.show_left()
            self._clock.start()

    def show_left(self) -> None:
        """How long it still waits; then the call is denied."""
        left = max(0, math.ceil(self._expires_at - time.time()))
        minutes, seconds = divmod(left, 60)
        words = tr("Denied automatically in {time}")
        self.left.tell(words.format(time=f"{minutes}:{seconds:02}"))

    def open(self, *, is_open: bool) -> None:
        for button in self._answers.values():
            button.setEnabled(is_open)

    def _answer(self, number: str, decision: str) -> None:
        self.open(is_open=False)
        self.answered.emit(number, decision)


class Approvals(QWidget):
    """All questions that wait; takes no room when there is none."""

    answered = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        self.list: Rows[Approval, ApprovalCard] = Rows(lambda one: one.id, self._make)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.PAGE_MARGIN, theme.MEDIUM, theme.PAGE_MARGIN, 0)
        column.addLayout(self.list.layout)
        self.hide()

    def show_approvals(self, waiting: tuple[Approval, ...]) -> None:
        """The oldest one: one question at a time is read, several are clicked away."""
        self.list.show(waiting[:1])
        self.setVisible(bool(waiting))

    def open_again(self) -> None:
        """The answer did not arrive."""
        for card in self.list.rows:
            card.open(is_open=True)

    def _make(self, approval: Approval) -> ApprovalCard:
        made = ApprovalCard(approval)
        made.answered.connect(self.answered)
        return made


def asker_words(approval: Approval) -> str:
    """How risky it is; and who asks, when a program uses the plugin for the first time."""
    risk = risk_words(approval.risk)
    if not approval.client:
        return risk
    words = tr("{client} wants to use this plugin for the first time.")
    return f"{words.format(client=approval.client)} {risk}"


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
