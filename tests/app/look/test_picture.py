from collections.abc import Callable
from typing import Any

from PySide6.QtWidgets import QApplication

from app.look import theme
from app.look.picture import LookPicture, Picture
from tests.kit.until import until

Shown = Callable[[Any], Any]


async def test_a_picture_follows_the_look(shown: Shown, qapp: QApplication) -> None:
    picture = shown(Picture("home", 24, "text"))
    light = picture.pixmap().toImage()
    theme.apply(qapp, "dark")
    await until(lambda: picture.pixmap().toImage() != light)
    theme.apply(qapp, "light")
    await until(lambda: picture.pixmap().toImage() == light)


async def test_the_state_is_also_said(shown: Shown) -> None:
    picture = shown(LookPicture(22))
    picture.show_look("failed")
    assert picture.accessibleName() == "Needs attention"
    failed = picture.pixmap().toImage()
    picture.show_look("ready")
    assert picture.pixmap().toImage() != failed
