import asyncio

import pytest

from server.chat import ChatRequest
from server.core.running_requests import Cancelled, RequestLimits, Requests
from server.errors import AppError, Busy, EngineCrashed, Stopping
from server.events import Events, Failed, Finished, StatusNote, TextDelta, Usage
from server.face.core import About
from server.sentences import Sentence, to_wire
from server.tasks import spawn, stop
from tests.kit.engines import EndlessEngine, ready, replay
from tests.kit.requests import make_requests

ASK = ChatRequest()
ABOUT = About("/v1/x", "me")


@pytest.fixture
async def requests() -> Requests:
    return make_requests()


async def test_a_request_is_shown_while_it_runs(requests: Requests):
    events = requests.track(ready(EndlessEngine().generate(ASK)), ABOUT)
    await anext(events)
    await asyncio.sleep(0)
    (shown,) = requests.running.get()
    assert (shown.client, shown.route) == ("me", "/v1/x")
    await events.aclose()
    assert requests.tokens >= 1


async def test_a_cancelled_request_ends_typed_and_stops_the_engine(requests: Requests):
    engine = EndlessEngine()
    events = requests.track(ready(engine.generate(ASK)), ABOUT)
    await anext(events)
    await asyncio.sleep(0)
    requests.cancel(requests.running.get()[0].id)
    seen = [event async for event in events]
    assert isinstance(seen[-1], Failed)
    assert isinstance(seen[-1].error, Cancelled)
    assert engine.stopped.is_set()


async def test_its_client_can_end_a_request_by_its_id_and_no_other(requests: Requests):
    events = [
        requests.track(ready(EndlessEngine().generate(ASK)), About("/v1/x", request_id=name))
        for name in ("one", "two")
    ]
    for stream in events:
        await anext(stream)
    requests.cancel_by_client("two")
    seen = [event async for event in events[1]]
    assert isinstance(seen[-1], Failed)
    assert "client" in str(seen[-1].error)
    assert isinstance(await anext(events[0]), TextDelta)
    await events[0].aclose()


async def test_closing_ends_all_and_refuses_new_ones(requests: Requests):
    engine = EndlessEngine()

    async def read() -> list[object]:
        return [event async for event in requests.track(ready(engine.generate(ASK)), ABOUT)]

    async with asyncio.timeout(30):
        reading = asyncio.gather(read(), read())
        await asyncio.sleep(0.05)
        await requests.close()
        for seen in await reading:
            assert isinstance(seen[-1], Failed)
            assert isinstance(seen[-1].error, Stopping)
    late = [event async for event in requests.track(ready(replay(TextDelta("x"))), ABOUT)]
    assert isinstance(late[0], Failed)


async def test_ending_a_request_that_waits_leaves_its_reader_uncancelled(requests: Requests):
    async def silent() -> Events:
        await asyncio.sleep(60)
        yield TextDelta("never")

    async def read() -> tuple[list[object], int]:
        seen: list[object] = [event async for event in requests.track(ready(silent()), ABOUT)]
        reader = asyncio.current_task()
        assert reader
        return seen, reader.cancelling()

    async with asyncio.timeout(30):
        reading = spawn(read(), "reader")
        await asyncio.sleep(0.05)
        requests.cancel(requests.running.get()[0].id)
        seen, cancelling = await reading
    assert isinstance(seen[-1], Failed)
    assert cancelling == 0


async def test_a_request_that_waits_for_its_model_can_be_ended(requests: Requests):
    gave_up = asyncio.Event()

    async def begin() -> Events:
        try:
            await asyncio.sleep(60)
        finally:
            gave_up.set()
        return replay(TextDelta("never"))

    async def read() -> list[object]:
        return [event async for event in requests.track(begin, ABOUT)]

    async with asyncio.timeout(30):
        reading = spawn(read(), "reader")
        await asyncio.sleep(0.05)
        requests.cancel(requests.running.get()[0].id)
        (seen,) = await reading
    assert isinstance(seen, Failed)
    assert isinstance(seen.error, Cancelled)
    assert gave_up.is_set()


async def test_a_reader_that_is_cancelled_itself_is_not_told_a_reason(requests: Requests):
    engine = EndlessEngine()

    async def read() -> None:
        async for _ in requests.track(ready(engine.generate(ASK)), ABOUT):
            pass

    reading = spawn(read(), "reader")
    await asyncio.sleep(0.05)
    requests.cancel(requests.running.get()[0].id)
    reading.cancel()
    async with asyncio.timeout(30):
        with pytest.raises(asyncio.CancelledError):
            await reading
        await engine.stopped.wait()


async def test_an_inner_failure_becomes_a_worded_end(requests: Requests):
    async def broken() -> Events:
        yield TextDelta("x")
        raise ZeroDivisionError("inner detail")

    seen = [event async for event in requests.track(ready(broken()), ABOUT)]
    assert seen[0] == TextDelta("x")
    assert isinstance(seen[1], Failed)
    assert type(seen[1].error) is AppError
    assert "inner detail" not in str(seen[1].error)


async def test_tokens_are_counted_from_the_usage(requests: Requests):
    script = replay(TextDelta("x"), Finished("stop", Usage(5, 0, 7)))
    assert len([event async for event in requests.track(ready(script), ABOUT)]) == 2
    assert requests.tokens == 7


async def test_what_ended_is_remembered_with_its_outcome(requests: Requests):
    done = Finished("stop", Usage(7, completion_tokens=3))
    async for _ in requests.track(ready(replay(TextDelta("x"), done)), ABOUT):
        pass
    (first,) = requests.answered.get()
    assert (first.client, first.route, first.outcome) == ("me", "/v1/x", "stop")
    assert (first.prompt_tokens, first.tokens) == (7, 3)
    requests.note_reply(About("/v1/models", "you"))
    async with asyncio.timeout(30):
        while len(requests.answered.get()) < 2:
            await asyncio.sleep(0.01)
    assert requests.answered.get()[1].route == "/v1/models"


async def test_slow_readers_hold_no_place_in_the_line() -> None:
    requests = make_requests(room=RequestLimits(slots=1, queue=1))
    slow = [requests.track(ready(EndlessEngine().generate(ASK)), ABOUT) for _ in range(3)]
    for events in slow:
        assert isinstance(await anext(events), TextDelta)
    silent = asyncio.Event()

    async def waits() -> Events:
        await silent.wait()
        yield Finished("stop")

    waiting = requests.track(ready(waits()), ABOUT)
    task = spawn(anext(waiting), "wait")  # type: ignore[arg-type]
    await asyncio.sleep(0)
    (refused,) = [event async for event in requests.track(ready(replay(TextDelta("x"))), ABOUT)]
    assert isinstance(refused, Failed)
    assert isinstance(refused.error, Busy)
    silent.set()
    assert await task == Finished("stop")
    (taken, *_) = [event async for event in requests.track(ready(replay(TextDelta("x"))), ABOUT)]
    assert taken == TextDelta("x")
    for events in (*slow, waiting):
        await events.aclose()


async def test_who_is_alone_is_never_refused() -> None:
    requests = make_requests(room=RequestLimits(slots=1, queue=1))
    events = [
        event async for event in requests.track(ready(replay(TextDelta("x"))), ABOUT, answers=9)
    ]
    assert events == [TextDelta("x")]


async def test_each_model_has_a_line_of_its_own() -> None:
    requests = make_requests(room=RequestLimits(slots=0, queue=1))

    async def silent() -> Events:
        await asyncio.Event().wait()
        yield TextDelta("never")

    waiting = requests.track(ready(silent()), About("/x", model="a"))
    task = spawn(anext(waiting), "wait")  # type: ignore[arg-type]
    await asyncio.sleep(0)
    other = requests.track(ready(replay(TextDelta("x"))), About("/x", model="b"))
    assert [event async for event in other] == [TextDelta("x")]
    full = requests.track(ready(replay(TextDelta("x"))), About("/x", model="a"))
    assert isinstance(await anext(full), Failed)
    await stop(task)


async def test_what_an_answer_reported_in_plain_text_is_recalled_with_its_fields(
    requests: Requests,
) -> None:
    note, why = Sentence("Calling {0}", "a  b"), Sentence("The engine stopped: {0}.", "x")

    async def fails() -> Events:
        yield StatusNote(note)
        raise EngineCrashed(why)

    assert len([event async for event in requests.track(ready(fails()), ABOUT)]) == 2
    for sentence in (note, why):
        plain = " ".join(sentence.split())
        found = requests.recall(plain)
        assert isinstance(found, Sentence)
        assert to_wire(found) == to_wire(sentence)
    assert not isinstance(requests.recall("Calling c"), Sentence)
