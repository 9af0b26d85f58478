"""Parts of the chat that tests examine: the parts of an answer, and the rows of the chat list."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QListWidgetItem

from app.charts.view import ChartView
from app.chat.chat_list import ChatList
from app.chat.markdown import MarkdownView
from app.chat.page import ChatPage
from app.chat.transcript import AnswerBody
from tests.kit.until import until


async def drawn(page: ChatPage) -> None:
    """Waits until all messages are shown that an opened chat shows without being asked for more."""
    await until(lambda: not page.drawing.isActive())


def charts(body: AnswerBody) -> list[ChartView]:
    return [part for part in body._parts if isinstance(part, ChartView)]


def plain_text(body: AnswerBody) -> str:
    """Returns the text as it is read, without Markdown's marks."""
    texts = [part for part in body._parts if isinstance(part, MarkdownView)]
    return "\n".join(part.toPlainText() for part in texts)


def item_of(chats: ChatList, chat_id: str) -> QListWidgetItem | None:
    items = [chats.list.item(place) for place in range(chats.list.count())]
    known = Qt.ItemDataRole.UserRole
    return next((item for item in items if item.data(known) == chat_id), None)
