"""What a model's file says of itself, with warnings about its template and what differs in it."""

from PySide6.QtWidgets import QPlainTextEdit, QVBoxLayout, QWidget

from app.look import theme
from app.look.banner import Banner
from app.look.code_box import text_to_read
from app.look.controls import Button, Label, row
from app.look.fit_label import FitLabel, facts, parameters
from app.look.sentences import told
from app.look.summary import size
from app.look.translate import tr
from server.face.models import ModelDetail, TemplateNote

_LINES = 14


class ModelDetails(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.about = Label("", "small", wrap=True)
        self.fit = FitLabel()
        self.template = Button(tr("Show the chat template"))
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setFont(theme.mono())
        self.text.setFixedHeight(_LINES * self.text.fontMetrics().height())
        self.text.setAccessibleName(tr("Chat template"))
        self.text.hide()
        self._template = ""
        self.template.clicked.connect(lambda: self._turn(self._template))
        self._shown = ""
        self._warnings = QVBoxLayout()
        self._warnings.setSpacing(theme.SMALL)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SMALL)
        column.addWidget(self.about)
        column.addWidget(self.fit)
        column.addLayout(self._warnings)
        column.addLayout(row(self.template, 0))
        column.addWidget(self.text)

    def show_detail(self, detail: ModelDetail) -> None:
        self.about.setText("\n".join(_lines(detail)))
        self.fit.setVisible(not detail.damaged)
        self.fit.show_fit(detail.fit)
        self.template.setVisible(bool(detail.template))
        self._template = detail.template
        while old := self._warnings.takeAt(0):
            if widget := old.widget():
                widget.hide()
                widget.deleteLater()
        for note in detail.template_notes:
            self._warnings.addWidget(self._warning(note))

    def _warning(self, note: TemplateNote) -> Banner:
        is_long = note.kind == "differs" and bool(note.detail)
        banner = Banner("warn", told(note.text), "" if is_long else told(note.detail), closes=False)
        if is_long:
            show = Button(tr("Show what differs"))
            show.clicked.connect(lambda: self._turn(note.detail))
            banner.add_button(show)
        return banner

    def _turn(self, text: str) -> None:
        """Shows it; a second time hides it again."""
        same = self.text.isVisibleTo(self) and self._shown == text
        self._shown = text
        self.text.setPlainText(text_to_read(text))
        self.text.setVisible(not same)


def _lines(detail: ModelDetail) -> list[str]:
    if detail.damaged:
        return [tr("The file is damaged: {why}.").format(why=told(detail.damaged)), detail.path]
    context = detail.trained_context_tokens
    found = [
        facts(detail.title, detail.architecture, parameters(detail.parameters)),
        facts(
            detail.quantisation,
            size(detail.size_bytes),
            tr("{tokens} tokens of context").format(tokens=f"{context:,}") if context else "",
        ),
        tr("Licence: {name}").format(name=detail.licence or tr("not said")),
        tr("Tool calls: {style}").format(style=detail.tool_style or tr("not in its template")),
    ]
    if detail.projector:
        found.append(tr("Sees images: {file}").format(file=detail.projector))
    return [*found, detail.path]
