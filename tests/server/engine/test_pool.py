"""The pool loads on request, keeps to its budget and drops no running answer."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path

import pytest

from server.chat import ChatRequest, Message
from server.engine.base import Embeddings, EngineOptions, LoadState
from server.engine.pool import FoundModel, LoadedModel, Pool, PoolLimits
from server.errors import Busy, ModelLoadFailed, ModelNotFound, Stopping
from server.events import Finished, TextDelta
from tests.kit.fake_engine import NamedEngine

MB = 1_000_000
SIZES = {"small": 100 * MB, "middle": 200 * MB, "large": 300 * MB, "broken": 100 * MB}
Start = Callable[..., Pool]
ASK = ChatRequest(prompt="go on")


def look_up(name: str) -> FoundModel:
    if name not in SIZES:
        raise ModelNotFound(name, tuple(SIZES))
    return FoundModel(Path(name), EngineOptions(), SIZES[name])


@pytest.fixture
def made() -> list[NamedEngine]:
    return []


@pytest.fixture
async def start(made: list[NamedEngine]) -> AsyncIterator[Start]:
    pools: list[Pool] = []

    def make(path: Path, _options: EngineOptions) -> NamedEngine:
        made.append(NamedEngine(path.name))
        return made[-1]

    def start(**limits: float) -> Pool:
        pools.append(Pool(look_up, make, PoolLimits(**limits)))  # type: ignore[arg-type]
        return pools[-1]

    yield start
    for pool in pools:
        await pool.close()
    assert [engine.state.get().phase for engine in made] == ["empty"] * len(made)


def names(pool: Pool) -> list[str]:
    return [loaded.name for loaded in pool.loaded.get()]


async def until_loaded(pool: Pool, *wanted: str) -> None:
    reached = asyncio.Event()

    def look(loaded: tuple[LoadedModel, ...]) -> None:
        if {entry.name for entry in loaded} == set(wanted):
            reached.set()

    disconnect = pool.loaded.connect(look)
    async with asyncio.timeout(30):
        await reached.wait()
    disconnect()


async def test_those_who_ask_at_once_share_one_load(start: Start, made: list[NamedEngine]) -> None:
    pool = start()
    await asyncio.gather(*(pool.engine("small") for _ in range(5)))
    assert [engine.loads for engine in made] == [1]
    facts = made[0].facts
    assert pool.loaded.get() == (LoadedModel("small", "ready", 1.0, "", 100 * MB, 0, facts=facts),)


async def test_an_answer_comes_through_and_is_counted(start: Start) -> None:
    pool = start()
    engine = await pool.engine("small")
    async with aclosing(engine.generate(ASK)) as pieces:
        assert await anext(pieces) == TextDelta("small")
        assert pool.loaded.get()[0].running == 1
    assert pool.loaded.get()[0].running == 0


async def test_an_unknown_name_is_the_look_ups_to_refuse(start: Start) -> None:
    with pytest.raises(ModelNotFound):
        await start().engine("other")


async def test_a_failed_load_is_shown_and_tried_anew(start: Start, made: list[NamedEngine]) -> None:
    pool = start()
    with pytest.raises(ModelLoadFailed):
        await pool.engine("broken")
    assert pool.loaded.get()[0].reason == "It is broken."
    with pytest.raises(ModelLoadFailed):
        await pool.engine("broken")
    assert len(made) == 2


async def test_the_least_recently_used_makes_room(start: Start) -> None:
    pool = start(budget_bytes=400 * MB)
    await pool.engine("small")
    await pool.engine("middle")
    await pool.engine("small")
    await pool.engine("middle")
    await pool.engine("small")
    await pool.engine("large")
    assert names(pool) == ["small", "large"]


async def test_what_can_never_fit_is_refused_with_the_numbers(start: Start) -> None:
    pool = start(budget_bytes=250 * MB)
    await pool.engine("small")
    with pytest.raises(ModelLoadFailed, match="300 MB of memory, but only 250 MB are allowed"):
        await pool.engine("large")


async def test_a_running_answer_is_waited_for_not_dropped(start: Start) -> None:
    pool = start(budget_bytes=300 * MB)
    middle = await pool.engine("middle")
    pieces = middle.generate(ASK)
    await anext(pieces)
    other = asyncio.get_running_loop().create_task(pool.engine("large"))
    await asyncio.sleep(0)
    assert names(pool) == ["middle"]
    assert [piece async for piece in pieces] == [Finished("stop")]
    await other
    assert names(pool) == ["large"]


async def test_waiting_for_memory_has_an_end(start: Start) -> None:
    pool = start(budget_bytes=300 * MB, patience_s=0.05)
    middle = await pool.engine("middle")
    async with aclosing(middle.generate(ASK)) as pieces:
        await anext(pieces)
        with pytest.raises(Busy):
            await pool.engine("large")


async def test_an_idle_model_is_unloaded_and_loaded_again_when_asked(
    start: Start, made: list[NamedEngine]
) -> None:
    pool = start(idle_s=0.02)
    engine = await pool.engine("small")
    await until_loaded(pool)
    assert [piece async for piece in engine.generate(ASK)][-1] == Finished("stop")
    assert len(made) == 2


async def test_a_model_that_answers_is_not_idle(start: Start) -> None:
    pool = start(idle_s=0.02)
    engine = await pool.engine("small")
    async with aclosing(engine.generate(ASK)) as pieces:
        await anext(pieces)
        await asyncio.sleep(0.06)
        assert names(pool) == ["small"]


async def test_a_swap_lets_running_answers_end_on_the_old_one(
    start: Start, made: list[NamedEngine]
) -> None:
    pool = start()
    engine = await pool.engine("small")
    pieces = engine.generate(ASK)
    await anext(pieces)
    await pool.swap("small")
    old, new = made
    assert (old.state.get().phase, new.state.get().phase) == ("ready", "ready")
    assert [piece async for piece in pieces] == [Finished("stop")]
    await old.closed.wait()
    assert new.state.get().phase == "ready"


async def test_one_model_takes_the_place_of_another(start: Start, made: list[NamedEngine]) -> None:
    pool = start()
    engine = await pool.engine("small")
    async with aclosing(engine.generate(ASK)) as pieces:
        await anext(pieces)
        await pool.swap("middle", "small")
        assert names(pool) == ["middle"]
        (gone,) = pool.leaving()
        assert not gone.is_set()
        assert [piece async for piece in pieces] == [Finished("stop")]
    await gone.wait()
    assert made[0].state.get().phase == "empty"
    assert pool.leaving() == ()


async def test_it_knows_what_would_be_loaded_otherwise_now(made: list[NamedEngine]) -> None:
    slots = 2

    def make(path: Path, _options: EngineOptions) -> NamedEngine:
        made.append(NamedEngine(path.name))
        return made[-1]

    pool = Pool(lambda name: FoundModel(Path(name), EngineOptions(slots=slots), 1), make)
    assert not pool.is_outdated("small")
    await pool.engine("small")
    assert not pool.is_outdated("small")
    slots = 3
    assert pool.is_outdated("small")
    await pool.swap("small")
    assert not pool.is_outdated("small")
    await pool.close()


async def test_all_are_unloaded_those_included_that_were_let_go(
    start: Start, made: list[NamedEngine]
) -> None:
    pool = start()
    await pool.engine("small")
    await pool.engine("middle")
    await pool.swap("small")
    await pool.unload_all()
    assert pool.loaded.get() == ()
    assert [engine.closed.is_set() for engine in made] == [True] * 3


async def test_unload_waits_for_running_answers(start: Start, made: list[NamedEngine]) -> None:
    pool = start()
    engine = await pool.engine("small")
    pieces = engine.generate(ASK)
    await anext(pieces)
    unloading = asyncio.get_running_loop().create_task(pool.unload("small"))
    await asyncio.sleep(0)
    assert made[0].state.get().phase == "ready"
    await pieces.aclose()
    await unloading
    assert made[0].state.get() == LoadState()


async def test_closing_closes_all_and_takes_no_more(start: Start) -> None:
    pool = start()
    await pool.engine("small")
    await pool.engine("middle")
    await pool.close()
    assert pool.loaded.get() == ()
    with pytest.raises(Stopping):
        await pool.engine("small")


async def test_new_limits_hold_for_what_is_loaded(start: Start) -> None:
    pool = start()
    await pool.engine("small")
    pool.set_limits(PoolLimits(idle_s=0.02))
    await until_loaded(pool)


async def test_each_question_reaches_the_engine(start: Start) -> None:
    engine = await start().engine("small")
    await engine.load()
    assert await engine.tokenize("ab") == [97, 98]
    assert await engine.detokenize([97, 98]) == "ab"
    assert await engine.apply_template(ChatRequest((Message("user", "hi"),))) == "hi"
    assert await engine.embed(["a"]) == Embeddings([[1.0, 1.0]], 1)
    assert await engine.stats() == {"loads": 1}


async def test_a_look_neither_loads_a_model_nor_keeps_it(start: Start, made: list[NamedEngine]):
    pool = start(idle_s=60.0)
    assert pool.peek("small") is None
    assert made == []
    await pool.engine("small")
    timer = pool._entries["small"].idle
    assert pool.peek("small") is made[0]
    assert pool._entries["small"].idle is timer


async def test_who_uses_a_model_says_how_long_it_stays(start: Start):
    pool = start(idle_s=60.0)
    async with pool.use("small", 600.0):
        pass
    (loaded,) = pool.loaded.get()
    assert loaded.leaves_at
    assert loaded.leaves_at - time.time() > 500
    async with pool.use("small"):
        pass
    assert pool.loaded.get()[0].leaves_at - time.time() > 500  # type: ignore[operator]
    pool.keep("small", math.inf)
    assert pool.loaded.get()[0].leaves_at is None
    pool.keep("small", 0.0)
    assert names(pool) == []
    pool.keep("none", 0.0)


async def test_a_model_kept_for_no_time_ends_its_answers_first(start: Start):
    pool = start()
    async with pool.use("small"):
        pool.keep("small", 0.0)
        assert names(pool) == ["small"]
    await until_loaded(pool)
