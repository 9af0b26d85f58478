from collections.abc import Callable
from typing import Any

from app.chat.transcript import Suggestion

LONG = "Erkläre in zwei Sätzen, was ein Burggraben bei einer Geldanlage ist und wozu er dient."


def test_a_long_question_is_shown_whole_however_narrow(shown: Callable[[Any], Any]) -> None:
    question = shown(Suggestion(LONG))
    assert question.heightForWidth(250) > question.heightForWidth(900)
    question.resize(250, question.heightForWidth(250))
    (words,) = [one for one in question.children() if one.isWidgetType()]
    assert words.height() >= words.heightForWidth(words.width())
    assert words.width() <= 250


def test_it_is_named_by_what_it_asks(shown: Callable[[Any], Any]) -> None:
    question = shown(Suggestion(""))
    assert question.accessibleName()
    question.ask(LONG)
    assert (question.question, question.accessibleName()) == (LONG, LONG)
