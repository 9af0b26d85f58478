from collections.abc import Callable
from typing import Any

from PySide6.QtWidgets import QLabel

from app.look import theme
from app.look.layouts import Beside, Panel

Shown = Callable[[Any], Any]


def beside(shown: Shown, width: int) -> Beside:
    made = Beside(QLabel("main"), Panel(QLabel("left"), 264), Panel(QLabel("right"), 300))
    shown(made).resize(width, 400)
    return made


def test_a_panel_stands_beside_where_there_is_room(shown: Shown) -> None:
    made = beside(shown, 1000)
    assert made.main.width() == 1000
    made.open(made.right, shown=True)
    assert not made.main.geometry().intersects(made.right.geometry())
    assert made.main.width() >= theme.LEAST_READING
    made.open(made.right, shown=False)
    assert made.main.width() == 1000


def test_it_lies_over_the_main_part_where_there_is_none(shown: Shown) -> None:
    made = beside(shown, 680)
    made.open(made.left, shown=True)
    assert made.main.width() == 680
    assert made.left.property("over")
    assert made.rect().contains(made.left.geometry())
    made.resize(1000, 400)
    assert not made.left.property("over")
    assert made.main.geometry().left() >= made.left.geometry().right()
