"""What an answer says: text with charts between, each drawn as what it is."""

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.charts.figure import Figure
from app.charts.option import parts
from app.charts.view import ChartView
from app.chat.draw_budget import MOST_READ, Budget
from app.chat.markdown import MarkdownView
from app.look import theme
from app.look.translate import tr

Part = MarkdownView | ChartView


class AnswerBody(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._parts: list[Part] = []
        self.budget = Budget()
        self._drawn = ""
        """The text whose beginning filled the budget: what comes after it changes nothing."""
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(theme.MEDIUM)

    @property
    def charts(self) -> list[ChartView]:
        return [part for part in self._parts if isinstance(part, ChartView)]

    def plain_text(self) -> str:
        """The words as they are read, without their marks."""
        texts = [part for part in self._parts if isinstance(part, MarkdownView)]
        return "\n".join(part.toPlainText() for part in texts)

    def show_text(self, text: str) -> None:
        """Parts that are the same stay; an answer grows at its end, so few are made anew."""
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
            self._column.removeWidget(part)
            part.hide()
            part.deleteLater()
        del self._parts[place:]


def _shows(shown: Part, part: str | Figure) -> bool:
    if isinstance(shown, MarkdownView):
        return isinstance(part, str) and shown.markdown() == part
    return shown.figure == part
