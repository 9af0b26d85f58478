"""Named keys: a list of who may connect, and a form that makes another."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFormLayout, QHBoxLayout, QLineEdit, QSpinBox, QWidget

from app.look import theme
from app.look.controls import Button, Card, CopyButton, Label, reveal, row, stack
from app.look.fit_label import facts
from app.look.rows import Rows
from app.look.sentences import told
from app.look.translate import tr
from server.face.core import KeyCard, KeyLimits

_MOST = 1_000_000_000


class KeyRow(QWidget):
    revoked = Signal(str)

    def __init__(self, card: KeyCard) -> None:
        super().__init__()
        name = card.name
        self.name = Label(name, "section", wrap=True)
        self.limits = Label("", "small", wrap=True)
        self.revoke = Button(tr("Revoke"), "trash", name=tr("Revoke {name}").format(name=name))
        self.sure = Button(
            tr("Revoke now"), "trash", name=tr("Really revoke {name}").format(name=name)
        )
        self.keep = Button(tr("Cancel"), name=tr("Cancel: keep {name}").format(name=name))
        self.revoke.clicked.connect(lambda: self._ask(asking=True))
        self.keep.clicked.connect(lambda: self._ask(asking=False))
        self.sure.clicked.connect(lambda: self.revoked.emit(name))
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(theme.SMALL)
        line.addLayout(stack(self.name, self.limits, spacing=2), 1)
        for button in (self.revoke, self.sure, self.keep):
            line.addWidget(button)
        self._ask(asking=False)

    def show_card(self, card: KeyCard) -> None:
        self.limits.tell(describe(card))

    def _ask(self, *, asking: bool) -> None:
        reveal(self.sure, shown=asking)
        reveal(self.keep, shown=asking)
        reveal(self.revoke, shown=not asking)


def describe(card: KeyCard) -> str:
    limits = card.limits
    spent = tr("{count} tokens today").format(count=f"{card.tokens_today:,}")
    if limits.tokens_per_day:
        spent = tr("{count} of {limit} tokens today").format(
            count=f"{card.tokens_today:,}", limit=f"{limits.tokens_per_day:,}"
        )
    at_once = tr("{count} at a time").format(count=limits.at_once) if limits.at_once else ""
    models = ", ".join(limits.models)
    only = tr("only {models}").format(models=models) if models else ""
    return facts(spent, at_once, only, tr("reads the figures") if limits.figures else "")


class KeysCard(Card):
    added = Signal(str, object)
    """A name and its `KeyLimits`."""
    revoked = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.empty = Label(
            tr("No named keys yet. Give each person or program its own, and take it back alone."),
            "muted",
            wrap=True,
        )
        self.list: Rows[KeyCard, KeyRow] = Rows(
            lambda card: card.name, self._make, lambda line, card: line.show_card(card)
        )
        self.name = QLineEdit()
        self.name.setPlaceholderText(tr("A person or a program"))
        self.models = QLineEdit()
        self.models.setPlaceholderText(tr("Empty: all. Several with commas between."))
        self.at_once, self.tokens = QSpinBox(), QSpinBox()
        for number in (self.at_once, self.tokens):
            number.setRange(0, _MOST)
            number.setSpecialValueText(tr("No limit"))
        self.add = Button(tr("Make a key"), "plus", name=tr("Make a named key"))
        self.add.clicked.connect(self._send)
        self.unasked = Label("", "small", wrap=True)
        self.state = Label("", "small", wrap=True)
        self.key = QLineEdit()
        self.key.setReadOnly(True)
        self.key.setFont(theme.mono())
        self.key.setAccessibleName(tr("The new key"))
        self.copy = CopyButton(tr("the new key"), self.key.text, "icon")
        self.made = QWidget()
        self._lay_out()

    def show_keys(self, cards: tuple[KeyCard, ...], *, asks: bool) -> None:
        self.list.show(cards)
        self.empty.setVisible(not cards)
        text = tr("No key is asked for now: limits hold only for those who send their key.")
        self.unasked.tell("" if asks or not cards else text)

    def show_made(self, name: str, key: str) -> None:
        """Shown until the next one is made or the page is left: nobody can show it again."""
        for edit in (self.name, self.models):
            edit.clear()
        for number in (self.at_once, self.tokens):
            number.setValue(0)
        self.key.setText(key)
        self.state.tell(tr("The key of {name}. It is shown this once.").format(name=name))
        self.made.show()

    def show_problem(self, sentence: str) -> None:
        self.made.hide()
        self.state.tell(told(sentence))

    def forget(self) -> None:
        self.key.clear()
        self.made.hide()
        self.state.tell("")

    def _send(self) -> None:
        models = tuple(one.strip() for one in self.models.text().split(",") if one.strip())
        limits = KeyLimits(models, self.at_once.value(), self.tokens.value())
        self.added.emit(self.name.text().strip(), limits)

    def _make(self, card: KeyCard) -> KeyRow:
        made = KeyRow(card)
        made.revoked.connect(self.revoked)
        return made

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.setSpacing(theme.SMALL)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        controls: dict[str, QWidget] = {
            tr("Name"): self.name,
            tr("Models"): self.models,
            tr("Requests at a time"): self.at_once,
            tr("Tokens per day"): self.tokens,
        }
        for title, control in controls.items():
            control.setAccessibleName(title)
            form.addRow(Label(title), control)
        inside = row(self.key, self.copy)
        self.made.setLayout(inside)
        self.made.hide()
        self.column.addWidget(Label(tr("Keys"), "headline"))
        self.column.addWidget(self.empty)
        self.column.addLayout(self.list.layout)
        self.column.addWidget(self.unasked)
        self.column.addLayout(form)
        self.column.addLayout(row(0, self.add))
        self.column.addWidget(self.state)
        self.column.addWidget(self.made)
        self.state.hide()
