"""Parts side by side take as many lines as they need."""

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QPushButton, QWidget

from app.look.layouts import Flow

Shown = Callable[[Any], Any]


def flow_of(*parts: QWidget) -> tuple[QWidget, Flow]:
    holder, flow = QWidget(), Flow(*parts)
    holder.setLayout(flow)
    return holder, flow


async def test_parts_without_room_go_to_the_next_line(shown: Shown) -> None:
    parts = [QPushButton("a"), QPushButton("b")]
    holder, flow = flow_of(*parts)
    shown(holder)
    wide = 2 * parts[0].sizeHint().width()
    assert flow.heightForWidth(wide // 2) > flow.heightForWidth(2 * wide) > 0


async def test_a_hidden_part_takes_neither_room_nor_a_gap(shown: Shown) -> None:
    parts = [QPushButton("a"), QPushButton("b"), QPushButton("c")]
    holder, flow = flow_of(*parts)
    shown(holder)
    just = parts[0].sizeHint().width()
    parts[1].hide()
    parts[2].hide()
    assert flow.heightForWidth(just) == parts[0].sizeHint().height()


async def test_a_deleted_part_leaves_the_layout(shown: Shown) -> None:
    parts = [QPushButton("a"), QPushButton("b")]
    holder, flow = flow_of(*parts)
    shown(holder)
    parts[0].deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert flow.count() == 1
    assert flow.itemAt(0).widget() is parts[1]
