from collections.abc import Callable
from typing import Any, get_args

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication

from app.look import icons, theme
from app.look.icons import LookPicture, Picture
from app.look.summary import Look
from app.look.theme import RESOURCES
from tests.kit.until import until

LOOKS = get_args(Look)


@pytest.mark.parametrize("path", sorted((RESOURCES / "icons").glob("*.svg")), ids=lambda p: p.stem)
def test_every_icon_draws_something(qapp: QApplication, path: object) -> None:
    picture = icons.pixmap(path.stem, "#ff0000", 24, 1.0).toImage()  # type: ignore[attr-defined]
    drawn = {picture.pixelColor(x, y).alpha() for x in range(24) for y in range(24)}
    assert max(drawn) > 200


def test_the_tray_looks_differ_in_shape_not_only_in_colour(qapp: QApplication) -> None:
    shapes = set()
    for look in LOOKS:
        picture = icons.pixmap(f"tray-{look}", "#000000", 22, 1.0).toImage()
        points = ((x, y) for x in range(22) for y in range(22))
        shapes.add(tuple(picture.pixelColor(x, y).alpha() > 128 for x, y in points))
    assert len(shapes) == len(LOOKS)


def test_an_icon_is_sharp_at_twice_the_size(qapp: QApplication) -> None:
    picture = icons.pixmap("home", "#336699", 18, 2.0)
    assert (picture.width(), picture.devicePixelRatio()) == (36, 2.0)


def test_an_icon_takes_the_colour_it_is_given(qapp: QApplication) -> None:
    picture = icons.pixmap("stop", "#336699", 24, 1.0).toImage()
    assert picture.pixelColor(12, 12) == QColor("#336699")


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
