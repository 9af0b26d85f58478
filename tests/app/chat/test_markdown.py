import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication, QImage, QTextTable
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.chat.markdown import MarkdownView, _code_boxes
from app.look import theme
from app.look.theme import DARK
from tests.kit.until import until

Shown = Callable[[Any], Any]
RED = 0xFFFF0000
CODE = "Look:\n\n```python\nx = 1\ny = 2\n```\n\nDone."


async def test_it_is_as_tall_as_its_text(shown: Shown) -> None:
    view = shown(MarkdownView())
    view.show_markdown("One line.")
    short = view.height()
    view.show_markdown("A paragraph.\n\n" * 20)
    assert view.height() > 10 * short
    tall = view.height()
    view.resize(view.width(), tall)
    assert view.verticalScrollBar().maximum() == 0


async def test_markup_of_the_model_is_only_text(shown: Shown) -> None:
    view = shown(MarkdownView())
    view.show_markdown('<img src="http://example.com/x.png"><b>bold</b>')
    assert "<b>bold</b>" in view.toPlainText()


@pytest.mark.parametrize("address", ["file://{}", "{}", "/{}", "file://localhost{}"])
async def test_a_picture_is_told_and_its_file_never_opened(
    shown: Shown, tmp_path: Path, address: str
) -> None:
    secret = tmp_path / "red.png"
    red = QImage(40, 40, QImage.Format.Format_RGB32)
    red.fill(RED)
    assert red.save(str(secret))
    view = shown(MarkdownView())
    named = address.format(secret)
    view.show_markdown(f"Look ![at this]({named}), ![]({named}).")
    seen = view.viewport().grab().toImage()
    pixels = {seen.pixel(x, y) for x in range(seen.width()) for y in range(seen.height())}
    assert RED not in pixels
    assert f"Look at this ({named})" in view.toPlainText()
    assert "\N{OBJECT REPLACEMENT CHARACTER}" not in view.toPlainText()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX system")
async def test_a_pipe_that_is_named_as_a_picture_is_not_waited_for(
    shown: Shown, tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    view = shown(MarkdownView())
    view.show_markdown(f"![x](file://{pipe}) ![x]({pipe})")
    assert not view.viewport().grab().isNull()


async def test_code_is_set_apart(shown: Shown, qapp: QApplication) -> None:
    view = shown(MarkdownView())
    view.show_markdown(CODE)
    image = view.viewport().grab().toImage()
    colours = {image.pixelColor(image.width() - 12, y).name() for y in range(image.height())}
    assert theme.LIGHT.code in colours


async def test_tables_have_rules(shown: Shown) -> None:
    view = shown(MarkdownView())
    view.show_markdown("| a | b |\n|---|---|\n| 1 | 2 |")
    (table,) = view.document().rootFrame().childFrames()
    assert isinstance(table, QTextTable)
    assert table.cellAt(1, 0).format().toTableCellFormat().bottomBorder() == 1


async def test_half_of_an_answer_is_no_trouble(shown: Shown) -> None:
    view = shown(MarkdownView())
    for end in range(len(CODE)):
        view.show_markdown(CODE[:end])
    assert view.markdown() == CODE[:-1]


async def test_only_web_links_are_opened(shown: Shown, monkeypatch: Any, qtbot: QtBot) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    view = shown(MarkdownView())
    for address in ("https://example.com/", "file:///etc/passwd", "javascript:alert(1)"):
        view.anchorClicked.emit(QUrl(address))
    assert opened == ["https://example.com/"]


async def test_it_is_drawn_again_in_the_dark(shown: Shown, qapp: QApplication) -> None:
    view = shown(MarkdownView())
    view.show_markdown("Some `code` here.")
    theme.apply(qapp, "dark")

    def grounds() -> set[str]:
        run = view.document().begin().begin()
        found = set()
        while not run.atEnd():
            found.add(run.fragment().charFormat().background().color().name())
            run += 1
        return found

    await until(lambda: DARK.raised in grounds())
    theme.apply(qapp, "light")


@pytest.mark.parametrize("after", ["", "\n\nAnd so on."])
async def test_the_ground_of_code_is_shown_whole(shown: Shown, after: str) -> None:
    view = shown(MarkdownView())
    view.show_markdown(f"Here:\n\n```\nprint(1)\n```{after}")
    (box,) = _code_boxes(view.document())
    assert box.bottom() <= view.height()


async def test_each_block_of_code_has_a_copy_button(shown: Shown, qapp: object) -> None:
    view = shown(MarkdownView())
    view.show_markdown("One:\n\n```python\na = 1\nb = 2\n```\n\nTwo:\n\n```\nc\n```\n")
    assert len(view.copies) == 2
    view.copies[0].click()
    assert QGuiApplication.clipboard().text() == "a = 1\nb = 2"
    view.copies[1].click()
    assert QGuiApplication.clipboard().text() == "c"
    assert view.copies[1].y() > view.copies[0].y()
    view.show_markdown("Nothing to copy.")
    assert not any(button.isVisible() for button in view.copies)


async def test_the_text_is_never_laid_out_while_it_is_being_written(shown: Shown) -> None:
    """A size told in the middle of an edit must not resize the view there and then."""
    view = shown(MarkdownView())
    view.show_markdown("One line.")
    before = view.height()
    meanwhile: list[int] = []
    view.document().documentLayout().documentSizeChanged.connect(
        lambda _: meanwhile.append(view.height())
    )
    view.document().setMarkdown("A paragraph.\n\n" * 20)
    assert set(meanwhile) == {before}
    await until(lambda: view.height() > 10 * before)


async def test_long_answers_may_grow_shrink_and_be_resized(shown: Shown) -> None:
    view = shown(MarkdownView())
    part = "Words " * 40 + "\n\n```python\nx = 1  # one\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
    for count in (1, 12, 3, 0, 20):
        view.show_markdown(part * count)
        view.setFixedWidth(400 + 20 * count)
        assert sum(button.isVisibleTo(view) for button in view.copies) == count
    assert len(view.copies) == 20
    view.copies[19].click()
    assert QGuiApplication.clipboard().text() == "x = 1  # one"


async def test_code_has_colours_that_follow_the_look(shown: Shown, qapp: QApplication) -> None:
    view = shown(MarkdownView())
    view.show_markdown("```python\nreturn 1  # so\n```")

    def colours() -> set[str]:
        formats = view.document().begin().textFormats()
        return {one.format.foreground().color().name() for one in formats}

    wanted = {theme.LIGHT.code_word, theme.LIGHT.code_number, theme.LIGHT.code_comment}
    assert wanted <= colours()
    theme.apply(qapp, "dark")
    await until(lambda: DARK.code_word in colours())
    theme.apply(qapp, "light")


async def test_a_long_line_of_code_goes_on_in_the_next_and_is_copied_as_one(shown: Shown) -> None:
    line = "result = average(" + ", ".join(f"price_{n}" for n in range(60)) + ")"
    view = shown(MarkdownView())
    view.show_markdown(f"```python\n{line}\nx = 1\n```")
    assert view.document().size().width() <= view.viewport().width()
    block = view.document().begin()
    rows = [block.layout().lineAt(n) for n in range(block.layout().lineCount())]
    assert len(rows) > 1
    button = view.copies[0]
    assert max(row.naturalTextWidth() for row in rows) + theme.CODE_PADDING <= button.x()
    button.click()
    assert QGuiApplication.clipboard().text() == f"{line}\nx = 1"
