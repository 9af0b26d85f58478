from dataclasses import asdict

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication

from app.look import theme
from app.look.theme import DARK, LIGHT, Colours
from tests.kit.contrast import contrast

READABLE = 4.5
TEXT_ON = [
    (text, ground)
    for ground in ("window", "sidebar", "surface", "raised", "code")
    for text in ("text", "muted", "accent", "bad", "warn", "good")
]
TEXT_ON += [("text", f"{tone}_soft") for tone in ("accent", "good", "warn", "bad")]
TEXT_ON += [("muted", f"{tone}_soft") for tone in ("accent", "warn", "bad")]
TEXT_ON += [(tone, f"{tone}_soft") for tone in ("accent", "good", "warn", "bad")]
TEXT_ON += [("on_accent", "accent"), ("on_accent", "accent_hover"), ("text", "border")]
TEXT_ON += [(f"code_{part}", "code") for part in ("word", "text", "number", "name", "comment")]
TEXT_ON += [("on_bad", "bad"), ("on_bad", "bad_hover")]


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), TEXT_ON)
def test_text_can_be_read(colours: Colours, text: str, ground: str) -> None:
    known = asdict(colours)
    assert contrast(known[text], known[ground]) >= READABLE


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize(
    ("wanted", "system", "dark"),
    [
        ("system", Qt.ColorScheme.Dark, True),
        ("system", Qt.ColorScheme.Light, False),
        ("system", Qt.ColorScheme.Unknown, False),
        ("dark", Qt.ColorScheme.Light, True),
        ("light", Qt.ColorScheme.Dark, False),
    ],
)
def test_the_look_follows_the_wish_then_the_system(
    wanted: str, system: Qt.ColorScheme, dark: bool
) -> None:
    assert theme.is_dark(wanted, system) is dark


@pytest.mark.parametrize("colours", [LIGHT, DARK])
def test_the_colours_are_known_from_the_palette(qapp: QApplication, colours: Colours) -> None:
    assert theme.colours_of(theme.palette(colours)) is colours


def test_every_colour_is_a_colour() -> None:
    for colour in (*asdict(LIGHT).values(), *asdict(DARK).values()):
        assert QColor(colour).isValid()


def test_the_style_sheet_leaves_no_blank(qapp: QApplication) -> None:
    sheet = theme.style_sheet(DARK, theme.sizes_of(qapp.font()))
    assert "$" not in sheet
    assert DARK.accent in sheet


def test_applying_a_look_changes_the_whole_application(qapp: QApplication) -> None:
    theme.apply(qapp, "dark")
    assert theme.colours_of(qapp.palette()) is DARK
    theme.apply(qapp, "light")
    assert theme.colours_of(qapp.palette()) is LIGHT
