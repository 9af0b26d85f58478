import asyncio

import pytest

from server.chat import Message, ToolCall
from server.conversation.threads import (
    EVERYBODY,
    Bounds,
    KeptRun,
    ThreadMessage,
    Threads,
    compact,
    messages_of,
)
from server.events import (
    Artifact,
    CallArguments,
    CallOpened,
    ClientToolCall,
    Event,
    Events,
    Failed,
    Finished,
    MessageOpened,
    PromptProgress,
    ReasoningDelta,
    StateChanged,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
)
from tests.kit.engines import replay
from tests.kit.threads import make_threads

HI = ThreadMessage("u1", Message("user", "hi"))
CALL = ToolCall("c1", "add", {"a": 1})
ANSWER = (MessageOpened("m1"), TextDelta("Hel"), TextDelta("lo"), Finished("stop"))


PAGE, OTHER = "https://page.example", "https://other.example"


async def talk(
    threads: Threads,
    thread: str,
    *events: Event,
    said: tuple[ThreadMessage, ...] = (HI,),
    origin: str = "",
):
    run = KeptRun("r1", threads.unknown(thread, said, origin))
    kept = threads.keep("default", thread, run, replay(*events), origin)
    return [event async for event in kept]


async def followed(threads: Threads, thread: str) -> list[Event]:
    return [event async for _, event in threads.follow(thread)]


async def test_events_pass_unchanged_and_are_replayed_joined():
    threads = make_threads()
    assert await talk(threads, "t", *ANSWER) == list(ANSWER)
    assert await followed(threads, "t") == [
        MessageOpened("m1"),
        TextDelta("Hello"),
        Finished("stop"),
    ]
    assert await followed(threads, "other") == []


async def test_only_what_was_not_said_yet_is_new():
    threads = make_threads()
    await talk(threads, "t", *ANSWER)
    again = (
        HI,
        ThreadMessage("m1", Message("assistant", "Hello")),
        ThreadMessage("u2", Message("user", "more")),
    )
    assert threads.unknown("t", again) == again[2:]


async def test_a_follower_gets_what_was_and_what_comes():
    threads, going_on = make_threads(), asyncio.Event()

    async def slow() -> Events:
        yield TextDelta("one ")
        await going_on.wait()
        yield TextDelta("two")
        yield Finished("stop")

    events = threads.keep("default", "t", KeptRun("r", ()), slow())
    assert await anext(events) == TextDelta("one ")
    follower = threads.follow("t")
    assert (await anext(follower))[1] == TextDelta("one ")
    going_on.set()
    rest = [event async for event in events]
    assert [event async for _, event in follower] == rest == [TextDelta("two"), Finished("stop")]


async def test_stopping_ends_a_run_cleanly_and_closes_its_source():
    threads, closed = make_threads(), asyncio.Event()

    async def endless() -> Events:
        try:
            while True:
                yield TextDelta("more ")
                await asyncio.sleep(0.001)
        finally:
            closed.set()

    events = threads.keep("default", "t", KeptRun("r", ()), endless())
    await anext(events)
    assert threads.stop("t")
    assert [event async for event in events][-1] == Finished("stop")
    assert closed.is_set()
    assert not threads.stop("t")
    assert not threads.stop("unknown")


async def test_a_run_whose_client_left_is_replayed_as_ended():
    threads = make_threads()
    events = threads.keep("default", "t", KeptRun("r", ()), replay(*ANSWER))
    await anext(events)
    await events.aclose()
    assert (await followed(threads, "t"))[-1] == Finished("stop")


async def test_the_latest_state_is_kept():
    threads = make_threads()
    await talk(threads, "t", StateChanged({"a": 1}), StateChanged({"a": 2}), Finished("stop"))
    thread = threads.find("t")
    assert thread
    assert thread.state == {"a": 2}


async def test_the_oldest_threads_go_when_there_are_too_many():
    threads = make_threads(Bounds(threads=2))
    for name in ("a", "b", "a", "c"):
        await talk(threads, name, *ANSWER)
    assert [thread.id for thread in threads.of_agent("default")] == ["c", "a"]
    assert threads.of_agent("other") == []


async def test_long_threads_go_when_they_take_too_much_room():
    threads = make_threads(Bounds(characters=100))
    await talk(threads, "long", TextDelta("x" * 90), Finished("stop"))
    await talk(threads, "short", TextDelta("x" * 20), Finished("stop"))
    assert threads.find("long") is None
    assert threads.find("short")


async def test_abandoned_threads_are_forgotten():
    now = 0.0
    threads = make_threads(Bounds(idle_s=60), clock=lambda: now)
    await talk(threads, "t", *ANSWER)
    assert threads.find("t")
    now = 61.0
    assert threads.find("t") is None


async def test_clearing_forgets_all_that_rest():
    threads = make_threads()
    await talk(threads, "t", *ANSWER)
    threads.clear()
    assert threads.find("t") is None


async def test_what_was_said_is_put_together_from_the_runs():
    threads = make_threads()
    await talk(
        threads, "t", MessageOpened("m1"), TextDelta("Let me. "), ToolCallStarted(CALL),
        ToolCallFinished("c1", "2"), MessageOpened("m2"), ClientToolCall(ToolCall("c2", "say", {})),
        Finished("tool_calls"),
    )  # fmt: skip
    assert messages_of(threads.find("t")) == (
        HI,
        ThreadMessage("m1", Message("assistant", "Let me. ", tool_calls=(CALL,))),
        ThreadMessage("result-c1", Message("tool", "2", tool_call_id="c1", name="add")),
        ThreadMessage("m2", Message("assistant", "", tool_calls=(ToolCall("c2", "say", {}),))),
    )
    assert messages_of(None) == ()


def test_joining_keeps_calls_apart_and_drops_progress():
    events = [
        PromptProgress(1, 2), CallOpened(0, "a", "x"), CallArguments(0, "{"), CallArguments(0, "}"),
        CallOpened(1, "b", "x"), CallArguments(1, "{}"),
    ]  # fmt: skip
    assert compact(events) == [
        CallOpened(0, "a", "x"), CallArguments(0, "{}"),
        CallOpened(1, "b", "x"), CallArguments(1, "{}"),
    ]  # fmt: skip


async def test_an_agent_that_breaks_has_failed_not_finished(caplog: pytest.LogCaptureFixture):
    async def breaking() -> Events:
        yield TextDelta("half an ans")
        raise IndexError("a secret detail")

    threads = make_threads()
    told = [event async for event in threads.keep("default", "t", KeptRun("r", ()), breaking())]
    assert isinstance(told[-1], Failed)
    assert str(told[-1].error) == "Something went wrong inside Moat."
    assert await followed(threads, "t") == told
    assert "a secret detail" in caplog.text


async def test_a_page_has_threads_of_its_own():
    threads = make_threads()
    await talk(threads, "t", *ANSWER, origin=PAGE)
    await talk(threads, "t", TextDelta("x"), Finished("stop"), origin=OTHER)
    await talk(threads, "p", *ANSWER)
    one, other = threads.find("t", PAGE), threads.find("t", OTHER)
    assert one
    assert other
    assert one is not other
    assert threads.find("t") is None
    assert threads.find("p", PAGE) is None
    assert threads.of_agent("", PAGE) == [one]
    assert [event async for _, event in threads.follow("p", PAGE)] == []
    assert threads.unknown("p", (HI,), PAGE) == (HI,)
    threads.clear(OTHER)
    assert threads.find("t", OTHER) is None
    assert threads.find("t", PAGE)
    assert threads.find("p")


async def test_a_page_cannot_stop_what_runs_for_another():
    threads = make_threads()
    events = threads.keep("default", "t", KeptRun("r", ()), replay(*ANSWER), PAGE)
    await anext(events)
    assert not threads.stop("t", OTHER)
    assert not threads.stop("t")
    assert threads.stop("t", PAGE)
    await events.aclose()


async def test_the_persons_own_window_sees_all():
    threads = make_threads()
    await talk(threads, "t", *ANSWER, origin=PAGE)
    await talk(threads, "p", *ANSWER)
    assert [thread.id for thread in threads.of_agent("", EVERYBODY)] == ["p", "t"]
    found = threads.find("t", EVERYBODY)
    assert found
    assert found.origin == PAGE
    threads.clear(EVERYBODY)
    assert threads.of_agent("", EVERYBODY) == []


async def test_results_states_and_pictures_take_room_too():
    threads = make_threads(Bounds(characters=1000))
    for number, event in enumerate(
        (
            ToolCallFinished("c", "x" * 900),
            StateChanged({"rows": [{"a": "x" * 450}, ["x" * 450]]}),
            Artifact("table", "t", "", {"rows": ["x" * 900]}),
            ClientToolCall(ToolCall("c", "say", {"text": "x" * 900})),
        )
    ):
        await talk(threads, f"t{number}", event, Finished("stop"))
        assert [thread.id for thread in threads.of_agent("")] == [f"t{number}"]


def test_joining_keeps_the_last_state_alone():
    one, other = StateChanged({"a": 1}), StateChanged({"a": 2})
    assert compact([one, TextDelta("a"), other, TextDelta("b"), Finished("stop")]) == [
        TextDelta("a"),
        other,
        TextDelta("b"),
        Finished("stop"),
    ]


def test_joining_makes_one_piece_of_reasoning():
    thinking = [ReasoningDelta("a"), ReasoningDelta("b"), TextDelta("c"), ReasoningDelta("d")]
    assert compact(thinking) == [ReasoningDelta("ab"), TextDelta("c"), ReasoningDelta("d")]
