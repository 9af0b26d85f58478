from collections.abc import Callable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt

from app.activity import ActivityPage, is_here, outcome_words
from server import errors
from server.face.core import AnsweredRequest, ModelStatus, Use
from server.settings import Settings
from tests.kit.fake_core import FakeCore

Shown = Callable[[Any], Any]
DONE = AnsweredRequest(1, "OpenBB", "/v1/query", "m", 1000.0, 3.21, "stop", 42, 187)
BROKEN = AnsweredRequest(2, "", "/v1/chat/completions", "m", 1100.0, 0.0, "engine_crashed")


def row(page: ActivityPage, number: int) -> list[object]:
    table = page.requests
    return [table.data(table.index(number, column)) for column in range(table.columnCount())]


async def test_every_request_is_listed_newest_first(core: FakeCore, shown: Shown) -> None:
    page = shown(ActivityPage(core))
    assert page.empty.isVisible()
    core.answered.set((DONE, BROKEN))
    assert not page.empty.isVisible()
    assert row(page, 0)[1:] == ["unnamed", "/v1/chat/completions", "m", "", "", "Engine stopped"]
    assert row(page, 1)[1:] == ["OpenBB", "/v1/query", "m", "42 → 187", "3.2 s", "Answered"]
    assert page.parts.buttons[0].text() == "Requests (2)"
    head = page.requests.headerData(6, Qt.Orientation.Horizontal)
    assert head == "Result"


async def test_a_page_goes_by_its_host(core: FakeCore, shown: Shown) -> None:
    page = shown(ActivityPage(core))
    core.answered.set((replace(DONE, client="https://pro.openbb.co"),))
    assert row(page, 0)[1] == "pro.openbb.co"
    core.answered.set((replace(DONE, client="http://pro.openbb.co"),))
    assert row(page, 0)[1] == "http://pro.openbb.co"


async def test_a_screen_reader_is_told_of_every_cell(core: FakeCore, shown: Shown) -> None:
    page = shown(ActivityPage(core))
    core.answered.set((DONE, BROKEN))
    places = [page.requests.index(row, column) for row in range(2) for column in range(7)]
    told = {page.requests.data(place, Qt.ItemDataRole.AccessibleTextRole) for place in places}
    assert {"Tokens: 42 → 187", "Tokens: None", "Duration: None", "Client: OpenBB"} <= told
    assert "" not in told


async def test_it_says_that_nothing_has_left(core: FakeCore, shown: Shown) -> None:
    core.opened_at.set(86400.0)
    page = shown(ActivityPage(core))
    assert page.summary.text().startswith("Nothing has left this computer since 1970-01-02")
    core.outgoing.set((Use(1.0, "127.0.0.1:8000", "remote agents", 200),))
    assert page.summary.text().startswith("Nothing has left")
    assert page.parts.buttons[1].text() == "Outgoing"
    host = page.outgoing.data(page.outgoing.index(0, 1))
    assert host == "127.0.0.1:8000 (this computer)"


async def test_it_never_says_so_once_a_program_ran_unwatched(core: FakeCore, shown: Shown) -> None:
    page = shown(ActivityPage(core))
    core.plugins.unwatched.set(("p", "q"))
    assert page.summary.text() == "Moat cannot monitor the programs of 2 plugins: p, q."


async def test_it_names_where_it_went(core: FakeCore, shown: Shown) -> None:
    page = shown(ActivityPage(core))
    away = Use(1.0, "huggingface.co:443", "searching for models", 200, 18_400)
    core.outgoing.set((away,))
    assert page.summary.text() == "Moat has connected to huggingface.co and nowhere else."
    core.outgoing.set((away, Use(2.0, "xethub.hf.co:443", "downloading a model", 206, 10)))
    assert page.summary.text() == "Moat has connected to 2 hosts."
    assert "downloading a model" in page.detail.text()
    page.parts.choose(1)
    assert page.outgoing_view.isVisible()
    assert page.outgoing.rowCount() == 2
    assert page.parts.buttons[1].text() == "Outgoing (2)"


async def test_what_was_sent_without_an_answer_is_listed(core: FakeCore, shown: Shown) -> None:
    page = shown(ActivityPage(core))
    core.outgoing.set((Use(1.0, "api.example:443", "plugin p"),))
    table = page.outgoing
    row = [table.data(table.index(0, column)) for column in range(table.columnCount())]
    assert row[1:] == ["api.example:443", "plugin p", "No answer", ""]
    assert page.summary.text() == "Moat has connected to api.example and nowhere else."


async def test_what_the_settings_mean_for_privacy_is_said(core: FakeCore, shown: Shown) -> None:
    page = shown(ActivityPage(core))
    core.settings.set(Settings().changed("network.offline", value=True))
    assert "Offline" in page.detail.text()
    core.settings.set(Settings().changed("server.listen", "network"))
    assert "Other computers" in page.detail.text()


async def test_the_host_that_runs_the_model_is_named(core: FakeCore, shown: Shown) -> None:
    page = shown(ActivityPage(core))
    assert "stay on it" in page.detail.text()
    core.model.set(ModelStatus("ready", "near", hosts=("localhost:8080",)))
    assert "stay on it" in page.detail.text()
    core.model.set(ModelStatus("ready", "far", hosts=("gpu:8000",)))
    assert page.detail.text() == (
        "Prompts, documents and answers go to gpu:8000, which runs the model."
    )


def test_what_is_on_this_machine() -> None:
    assert is_here("127.0.0.1:80")
    assert is_here("localhost:80")
    assert is_here("::1:80")
    assert not is_here("192.168.1.5:80")
    assert not is_here("localhost.example:443")


def test_every_error_has_its_words(speak: Callable[[str], None]) -> None:
    speak("de")
    kinds = [one for one in vars(errors).values() if isinstance(one, type)]
    codes = {one.code for one in kinds if issubclass(one, errors.AppError)}
    said = {code: outcome_words(code) for code in (*codes, "request_timeout", "topic_refused")}
    assert [code for code, text in said.items() if text == text_of(code)] == []


def text_of(code: str) -> str:
    """What is shown for a code that nobody has put into words."""
    return code.replace("_", " ").capitalize()


async def test_the_route_is_readable_in_a_small_window(core: FakeCore, shown: Shown) -> None:
    page = shown(ActivityPage(core))
    long = replace(BROKEN, client="a-client-with-a-long-name", prompt_tokens=18109, tokens=1393)
    core.answered.set((replace(long, took_s=8.4, outcome="context_length_exceeded"),))
    for width, hidden in ((690, [3, 5]), (1000, [])):
        page.resize(width, 600)
        view = page.request_view
        assert [column for column in range(7) if view.isColumnHidden(column)] == hidden
        assert view.columnWidth(2) >= view.fontMetrics().horizontalAdvance(BROKEN.route)
