"""About Moat: version, engine, news, licences."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.settings import AboutCard, LicencesDialog
from server import VERSION
from server.face.core import Update
from server.system.licenses import Component


def test_it_names_the_version_and_the_engine(qtbot: QtBot) -> None:
    card = AboutCard()
    qtbot.addWidget(card)
    card.show_engine("llama-cpp-python 0.3.36 with ggml 0.9-dirty: armv8.2_2, NEON = 1")
    assert VERSION in card.version.text()
    assert card.engine.text() == "llama-cpp-python 0.3.36 with ggml 0.9"
    assert "NEON = 1" in card.engine.toolTip()


def test_news_is_told_only_after_somebody_looked(qtbot: QtBot) -> None:
    card = AboutCard()
    qtbot.addWidget(card)
    card.show_update(Update())
    assert card.update_line.text() == ""
    card.show_update(Update(1.0))
    assert "up to date" in card.update_line.text()
    card.show_update(Update(1.0, "9.9.9", "https://moat.example/new"))
    assert "9.9.9" in card.update_line.text()
    assert "https://moat.example/new" in card.update_line.text()


def test_the_text_of_the_chosen_licence_is_shown(qtbot: QtBot) -> None:
    card = AboutCard()
    qtbot.addWidget(card)
    parts = [Component("Qt", "6", "LGPL-3.0-only", text="lesser"), Component("m", "1", "MIT")]
    dialog = LicencesDialog(parts, card)
    assert dialog.text.toPlainText() == "LGPL-3.0-only\n\nlesser"
    dialog.names.setCurrentRow(1)
    assert dialog.text.toPlainText().startswith("MIT")


def test_the_keyboard_stays_with_the_dialog_when_its_holder_goes(qtbot: QtBot) -> None:
    card = AboutCard()
    qtbot.addWidget(card)
    dialog = LicencesDialog([Component("Qt", "6", "LGPL-3.0-only", text="lesser")], card)
    dialog.show()
    dialog.activateWindow()
    qtbot.waitUntil(dialog.isActiveWindow, timeout=30_000)
    dialog.names.setFocus()
    assert QApplication.focusWidget() is dialog.names
    dialog.names.hide()
    assert QApplication.focusWidget() is dialog
    qtbot.keyClick(dialog, Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is dialog.text


def test_a_check_that_is_not_allowed_says_what_allows_it(qtbot: QtBot) -> None:
    card = AboutCard()
    qtbot.addWidget(card)
    card.show_allowed(allowed=False)
    assert not card.look.isEnabled()
    assert "turn on the daily check" in card.update_line.text()
    card.show_update(Update(1.0, "9.9.9", "https://moat.example/new"))
    assert "9.9.9" in card.update_line.text()
    card.show_allowed(allowed=True)
    assert card.look.isEnabled()
