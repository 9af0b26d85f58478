from collections.abc import Callable
from dataclasses import replace
from typing import Any

from PySide6.QtWidgets import QApplication

from app.chat.page import EmptyChat, suggestions
from server.face.core import ModelStatus
from tests.kit.fake_core import LOADED, SERVING
from tests.kit.fake_plugins import PORTFOLIO

Shown = Callable[[Any], Any]


def offered(empty: EmptyChat) -> list[str]:
    buttons = (*empty.offers, *empty.suggestions)
    return [button.question for button in buttons if button.isVisible()]


def test_what_plugins_offer_comes_first(shown: Shown) -> None:
    empty = shown(EmptyChat())
    empty.show_state(SERVING, LOADED)
    assert offered(empty) == list(suggestions())
    asking = replace(PORTFOLIO, question="What is it worth?")
    empty.show_plugins((asking, replace(asking, key="off", enabled=False), PORTFOLIO))
    assert offered(empty) == ["@portfolio What is it worth?", *suggestions()[:2]]
    asked: list[str] = []
    empty.suggested.connect(asked.append)
    empty.offers[0].click()
    assert asked == ["@portfolio What is it worth?"]
    empty.show_state(SERVING, ModelStatus())
    assert offered(empty) == []


def test_a_long_name_is_whole_and_long_questions_are_not_cut(shown: Shown) -> None:
    empty = shown(EmptyChat())
    name = "Qwen2.5-Coder-0.5B-Instruct-abliterated-uncensored-finance-tuned-very-long-name"
    empty.show_state(SERVING, replace(LOADED, name=name))
    for button in empty.suggestions:
        button.ask("A question with so many words that they take more than one line. " * 3)
    empty.resize(600, 200)
    QApplication.processEvents()
    assert empty.title.width() >= empty.title.minimumSizeHint().width()
    assert empty.title.height() >= empty.title.heightForWidth(empty.title.width())
    assert all(one.height() >= one.heightForWidth(one.width()) for one in empty.suggestions)
