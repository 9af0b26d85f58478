"""Which model is loaded, and how: as the person picked it last and as the settings are now."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from server.chat import ChatRequest
from server.core.core import Core
from server.errors import BadRequest, ModelNotUsed
from server.events import Finished
from server.system import backends
from server.tasks import spawn
from tests.kit.held_workers import Workers, gone, opened

ASK = ChatRequest(prompt="go on")


@pytest.fixture
def workers() -> Workers:
    return Workers()


@pytest.fixture
async def core(
    workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Core]:
    monkeypatch.setenv(backends.VARIABLE, "")
    async with opened(workers, tmp_path) as core:
        yield core


def on_cards(core: Core) -> list[str]:
    return [card.name for card in core.models.cards.get() if card.loaded]


async def test_picking_another_model_frees_the_first(core: Core, workers: Workers):
    await core.load_model("first")
    await core.load_model("second")
    await gone(workers.made[0])
    assert workers.loaded == on_cards(core) == ["second"]
    assert core.model.get().name == core.settings.get().model.name == "second"


async def test_so_does_another_model_in_the_settings(core: Core, workers: Workers):
    await core.load_model("first")
    await core.change_setting("model.name", "second")
    await gone(workers.made[0])
    assert workers.loaded == ["second"]
    await core.unload_model()
    await core.change_setting("model.name", "first")
    assert len(workers.made) == 2


async def test_an_answer_ends_on_the_model_it_began_on(core: Core, workers: Workers):
    await core.load_model("first")
    engine = await core._engine("first")
    async with aclosing(engine.generate(ASK)) as pieces:
        await anext(pieces)
        await core.load_model("second")
        assert core.model.get().phase == "ready"
        workers.made[0].may_end.set()
        assert [piece async for piece in pieces] == [Finished("stop")]
    await gone(workers.made[0])
    assert workers.loaded == ["second"]


def failures(core: Core) -> dict[str, str]:
    return {card.name: card.failure for card in core.models.cards.get() if card.failure}


async def test_a_model_that_does_not_load_leaves_the_working_one(core: Core, workers: Workers):
    await core.load_model("first")
    workers.broken = "second"
    words = "second could not be loaded: It is broken. first stays the default model."
    with pytest.raises(ModelNotUsed, match=words):
        await core.load_model("second")
    status = core.model.get()
    assert (status.phase, status.name, status.reason) == ("ready", "first", "")
    assert core.settings.get().model.name == "first"
    assert workers.loaded == on_cards(core) == ["first"]
    assert failures(core) == {"second": "It is broken."}
    second = next(card for card in core.models.cards.get() if card.name == "second")
    assert second.failure_details == "model_load_failed"
    workers.broken = ""
    await core.load_model("second")
    assert core.model.get().name == core.settings.get().model.name == "second"
    assert failures(core) == {}


async def test_nor_does_it_become_the_default_where_nothing_was_loaded(
    core: Core, workers: Workers
):
    await core.change_setting("model.name", "first")
    workers.broken = "second"
    with pytest.raises(ModelNotUsed):
        await core.load_model("second")
    assert core.settings.get().model.name == "first"
    status = core.model.get()
    assert (status.phase, status.name) == ("empty", "first")
    assert failures(core) == {"second": "It is broken."}


async def test_what_a_client_asked_for_by_name_stays_until_all_is_stopped(
    core: Core, workers: Workers
):
    await core.load_model("first")
    await core._engine("third")
    await core.load_model("second")
    assert workers.loaded == ["third", "second"]
    await core.stop()
    assert workers.loaded == on_cards(core) == []
    assert all(one.closed.is_set() for one in workers.made)


async def test_a_picked_model_takes_the_place_of_the_one_given_for_this_run(
    core: Core, workers: Workers
):
    core.choose_model("first")
    await core.start_on(0)
    assert core.model.get().name == "first"
    await core.load_model("second")
    assert core.model.get().name == "second"
    assert workers.loaded == ["second"]


async def test_of_two_changes_at_once_the_last_one_holds(core: Core, workers: Workers):
    await core.load_model("first")
    await asyncio.gather(
        core.change_setting("model.slots", 2), core.change_setting("model.slots", 3)
    )
    assert workers.made[-1].options.slots == 3
    assert core.model.get().phase == "ready"


async def test_what_is_changed_while_the_model_loads_takes_effect_once(
    core: Core, workers: Workers
):
    workers.hold()
    loading = spawn(core.load_model("first"), "load")
    await workers.loads_begin.wait()
    changes = [spawn(core.change_setting("model.slots", n), f"{n}") for n in (5, 6, 7)]
    await asyncio.sleep(0)
    workers.may_load.set()
    await asyncio.gather(loading, *changes)
    assert [one.options.slots for one in workers.made] == [4, 7]
    assert workers.loaded == ["first"]


async def test_a_mended_setting_loads_what_had_failed(core: Core, workers: Workers):
    workers.broken = "first"
    await core.change_setting("model.name", "first")
    await core.load_model("first")
    assert core.model.get().phase == "failed"
    assert core.model.get().details.startswith("model_load_failed")
    workers.broken = ""
    await core.change_setting("model.slots", 2)
    assert core.model.get().phase == "ready"


async def test_other_settings_load_nothing(core: Core, workers: Workers):
    await core.change_setting("model.slots", 2)
    assert workers.made == []
    await core.load_model("first")
    await core.change_settings({"model.idle_unload_min": 5, "model.folders": ()})
    assert len(workers.made) == 1


async def test_an_unloaded_model_is_not_loaded_for_a_change(core: Core, workers: Workers):
    await core.load_model("first")
    workers.hold()
    changing = spawn(core.change_setting("model.slots", 2), "change")
    await workers.loads_begin.wait()
    unloading = spawn(core.unload_model(), "unload")
    workers.may_load.set()
    await asyncio.gather(changing, unloading)
    assert core.model.get().phase == "empty"
    assert workers.loaded == []


async def test_other_support_for_graphics_cards_loads_the_model_with_it(
    core: Core, workers: Workers, tmp_path: Path
):
    await core.load_model("first")
    await core.change_setting("model.backends", str(tmp_path / "cards"))
    assert len(workers.made) == 2
    assert workers.made[-1].folder == tmp_path / "cards"


async def test_what_may_not_be_deleted_stays_loaded(core: Core, workers: Workers):
    await core.load_model("first")
    with pytest.raises(BadRequest, match="another program"):
        await core.models.delete("first")
    assert workers.loaded == ["first"]
