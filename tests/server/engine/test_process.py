"""A worker process behind the Engine face: loads, answers, refuses, stops."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from server.chat import ChatRequest, Constraint, Image, Message, Sampling, Tool
from server.engine.base import EngineOptions, LoadState, ModelFacts
from server.engine.process import (
    OPTIONS,
    PlainText,
    Reading,
    WorkerProcess,
    check_fits,
    facts_of,
    job_of,
)
from server.engine.styles import choose as choose_style
from server.engine.styles import plain
from server.engine.styles.base import Abilities, Format, Prepared
from server.engine.styles.messages import native
from server.engine.styles.stream import ScriptParser
from server.engine.watch import WatchLimits
from server.engine.wire import Job, pack, unpack
from server.errors import (
    AppError,
    BadRequest,
    BadSchema,
    Busy,
    ContextOverflow,
    ModelLoadFailed,
    NotSupported,
    Stopping,
    TemplateRefused,
)
from server.events import (
    Finished,
    Piece,
    PromptProgress,
    ReasoningDelta,
    TextDelta,
    TokenLogprob,
    Usage,
)
from tests.kit.scripted import (
    IMPATIENT,
    QUICK,
    SCRIPTED,
    choose,
    collect,
    drain,
    pieces,
    says,
    text_of,
    until,
)

REQUEST = ChatRequest(
    (Message("user", "look", images=(Image("image/png", b"png"),)),),
    sampling=Sampling(seed=3),
    stop=("the request's",),
    constraint=Constraint("regex", "the request's"),
    template_options=(("enable_thinking", False),),
)
PREPARED = Prepared(
    ({"role": "user", "content": "look"},),
    PlainText(),
    constraint=Constraint("lark", "the style's"),
    trigger="<call>",
    trigger_lead="",
    trigger_thought=("<think>", "</think>"),
    stop=("the style's",),
)


def test_the_style_decides_what_the_worker_gets() -> None:
    job = job_of(REQUEST, PREPARED)
    assert job["messages"] == [{"role": "user", "content": "look"}]
    assert job["constraint"] == {"kind": "lark", "source": "the style's", "strict": True}
    assert (job["stop"], job["trigger"]) == (["the style's"], "<call>")
    assert (job["trigger_lead"], job["trigger_thought"]) == ("", ("<think>", "</think>"))
    assert (job["images"], job["template_options"]) == ([b"png"], {"enable_thinking": False})
    assert job["sampling"]["seed"] == 3


def test_only_we_can_say_where_an_image_stands() -> None:
    (shown,) = native((replace(REQUEST.messages[0], content="<__media__>"),), Abilities())
    mark = job_of(REQUEST, PREPARED)["image_mark"]
    assert shown["content"] == f"{mark}\n<__media__>"
    assert mark != Job().image_mark


def test_job_and_options_survive_the_pipe() -> None:
    options = EngineOptions(draft_model=Path("draft.gguf"), loras=(Path("a"), Path("b")))
    frame = {
        "op": "x",
        "job": job_of(REQUEST, PREPARED),
        "options": OPTIONS.dump_python(options, mode="json"),
    }
    arrived = unpack(pack(frame)[4:])
    assert Job(**arrived["job"]).images == [b"png"]
    assert arrived["options"]["draft_model"] == "draft.gguf"
    assert arrived["options"]["loras"] == ["a", "b"]
    assert arrived["options"]["projector"] is None


def test_whatever_a_request_holds_can_be_packed() -> None:
    """Half a surrogate pair and numbers beyond 64 bits come inside JSON that is itself a text."""
    arguments = {"half": "\ud83d", "\ud83d": 1, "big": [2**64, -(2**70)], "huge": 10**400}
    arrived = unpack(pack({"op": "x", "arguments": arguments})[4:])["arguments"]
    assert (arrived["half"], arrived["?"]) == ("?", 1)
    assert arrived["big"] == [float(2**64), float(-(2**70))]
    assert arrived["huge"] == str(10**400)


def test_what_no_worker_could_read_is_not_packed() -> None:
    with pytest.raises(TypeError):
        pack({"op": "x", "job": object()})


def test_facts_of_a_newer_worker_are_read() -> None:
    facts = facts_of({"name": "m", "special_tokens": ["<a>"], "of_another_age": 1})
    assert (facts.name, facts.special_tokens) == ("m", ("<a>",))


def test_a_burst_is_one_piece_and_the_end_is_last() -> None:
    reading = Reading(PlainText())
    items = [[1, "prompt", 1, 2], [1, "prompt", 2, 2], [1, "text", "a", None]]
    items += [[1, "text", "b", None], [1, "end", "length", {"completion_tokens": 2}]]
    assert reading.pieces(items) == [
        PromptProgress(2, 2),
        TextDelta("ab"),
        Finished("length", Usage(completion_tokens=2)),
    ]
    assert reading.ended


@pytest.mark.parametrize("bursts", [1, 2, 3, 7])
def test_the_tokens_of_a_thought_are_counted(bursts: int) -> None:
    said = [
        ("<think>", 1),
        ("I shou", 2),
        ("ld", 1),
        ("</thi", 1),
        ("nk>", 1),
        ("Yes", 1),
        (".", 1),
    ]
    items: list[list[Any]] = [[1, "text", text, None, tokens] for text, tokens in said]
    reading = Reading(ScriptParser(plain.script(("<think>", "</think>"), opened=False)))
    pieces = [
        piece
        for at in range(bursts)
        for piece in reading.pieces(items[at * 7 // bursts : (at + 1) * 7 // bursts])
    ]
    pieces += reading.pieces([[1, "end", "stop", {"completion_tokens": 8}]])
    assert "".join(one.text for one in pieces if isinstance(one, ReasoningDelta)) == "I should"
    assert pieces[-1] == Finished("stop", Usage(completion_tokens=8, reasoning_tokens=3))


def test_a_call_that_is_held_back_until_the_end_is_no_thought() -> None:
    tool = Tool("add", "", {})
    facts = ModelFacts(template="<tool_call> <think></think>")
    asked = ChatRequest((Message("user", "2+2?"),), tools=(tool,))
    reading = Reading(choose_style(facts).prepare(asked, facts).parser)
    said = ["<think>", "Hm", "</think>", '{"name": "add", ', '"arguments": {"a": 2}}']
    pieces = [
        piece for text in said for piece in reading.pieces([[1, "text", text, None, 1]])
    ] + reading.pieces([[1, "end", "stop", {}]])
    assert pieces[-1] == Finished("tool_calls", Usage(reasoning_tokens=1))


def test_a_thought_that_was_cut_is_all_that_was_said() -> None:
    reading = Reading(ScriptParser(plain.script(("<think>", "</think>"), opened=True)))
    items: list[list[Any]] = [[1, "text", "Hm", None, 1], [1, "text", "\n", None, 1]]
    items.append([1, "end", "length", {"completion_tokens": 2}])
    assert reading.pieces(items)[-1] == Finished("length", Usage(0, 0, 2, reasoning_tokens=2))


def test_an_answer_without_thoughts_has_none_counted() -> None:
    reading = Reading(PlainText())
    items: list[list[Any]] = [[1, "text", "Hi", None, 1], [1, "end", "stop", {}]]
    assert reading.pieces(items)[-1] == Finished("stop", Usage())


def test_an_error_comes_after_the_text_before_it() -> None:
    reading = Reading(PlainText())
    facts = {"needed": 9, "available": 5}
    items = [[1, "text", "a", None], [1, "error", "context_length_exceeded", "", facts]]
    assert reading.pieces(items) == [TextDelta("a")]
    assert isinstance(reading.error, ContextOverflow)


def test_the_stop_text_that_the_worker_met_is_told() -> None:
    items: list[list[Any]] = [[1, "text", "Hi", None, 1], [1, "end", "stop", {}, "END"]]
    assert Reading(PlainText()).pieces(items)[-1] == Finished("stop", stop_text="END")


def test_nothing_more_is_wanted_behind_a_stop_text() -> None:
    reading = Reading(ScriptParser(plain.script(None, opened=False), ("END",)))
    assert reading.pieces([[1, "text", "Hi E", None, 1]]) == [TextDelta("Hi ")]
    assert not reading.stopped
    assert reading.pieces([[1, "text", "ND no", None, 1]]) == []
    assert reading.stopped
    assert reading.pieces([[1, "text", " more", None, 1]]) == []
    end = Finished("stop", Usage(completion_tokens=3), "END")
    assert reading.pieces([[1, "end", "length", {"completion_tokens": 3}]]) == [end]


def test_what_cannot_fit_is_refused_before_any_work() -> None:
    facts = ModelFacts(context_tokens=100)
    many = ChatRequest(messages=(Message("user", "Hi"),) * 101)
    large = ChatRequest(messages=(Message("user", "a" * 30_000),))
    for request in (many, large, ChatRequest(prompt="a" * 30_000), ChatRequest(prompt=(1,) * 101)):
        with pytest.raises(ContextOverflow):
            check_fits(request, facts)
    check_fits(ChatRequest(messages=(Message("user", "a" * 20_000),) * 1), facts)
    check_fits(many, ModelFacts())


DONE = Finished("stop", Usage(prompt_tokens=3, completion_tokens=2))
Make = Callable[..., WorkerProcess]


async def test_a_burst_is_one_piece_and_the_end_comes_once(make: Make) -> None:
    assert await pieces(make(), "well met") == [PromptProgress(3, 3), TextDelta("well met"), DONE]


async def test_loading_shows_progress_and_then_the_facts(make: Make) -> None:
    engine = make("slow.gguf")
    seen: list[LoadState] = []
    engine.state.connect(seen.append)
    await engine.load()
    assert [(state.phase, state.progress) for state in seen] == [
        ("empty", 0.0),
        ("loading", 0.0),
        ("loading", 0.5),
        ("ready", 1.0),
    ]
    assert engine.facts.name == "scripted"
    assert engine.facts.special_tokens == ("<eos>",)


async def test_those_who_ask_at_once_share_one_load(
    make: Make, new_children: Callable[[], list[psutil.Process]]
) -> None:
    engine = make("slow.gguf")
    answers = await asyncio.gather(*(text_of(engine, f"number {n}") for n in range(8)))
    assert answers == [f"number {n}" for n in range(8)]
    assert len(new_children()) == 1


async def test_leaving_while_the_model_loads_leaves_the_load_to_the_others(make: Make) -> None:
    engine = make("slow.gguf")
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(text_of(engine, "early"), 0.1)
    assert await text_of(engine, "patient") == "patient"


async def test_a_template_that_could_not_be_tried_is_tried_with_each_question(
    make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    engine = make("untried.gguf")
    assert await text_of(engine, "first") == "first"
    assert engine.facts.extra["template_again"]
    told = [text for _, level, text in caplog.record_tuples if level == logging.WARNING]
    assert told == ["The chat template of untried could not be tried out: it did not answer"] * 2
    answers = await asyncio.gather(*(text_of(engine, f"number {n}") for n in range(4)))
    assert answers == [f"number {n}" for n in range(4)]
    assert engine.facts.extra["template"] == {"calls": True}
    assert not engine.facts.extra["template_again"]


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("context_length_exceeded", ContextOverflow),
        ("invalid_request", BadRequest),
        ("invalid_schema", BadSchema),
        ("template_failed", TemplateRefused),
        ("server_busy", Busy),
        ("not_supported", NotSupported),
        ("server_stopping", Stopping),
        ("of another age", AppError),
    ],
)
async def test_what_the_worker_refuses_is_raised_before_any_piece(
    make: Make, code: str, kind: type[AppError]
) -> None:
    stream = make().generate(says(f"refuse {code.replace(' ', '-')}"))
    with pytest.raises(kind) as refused:
        await anext(stream)
    assert type(refused.value) is kind


async def test_an_overflow_names_its_numbers(make: Make) -> None:
    with pytest.raises(ContextOverflow) as refused:
        await pieces(make(), "refuse context_length_exceeded")
    assert (refused.value.needed, refused.value.available) == (900, 512)


async def test_text_before_a_late_error_is_not_lost(make: Make) -> None:
    seen: list[Piece] = []
    with pytest.raises(TemplateRefused, match="Too late"):
        await collect(make(), "late-refusal", seen)
    assert seen == [TextDelta("some")]


async def test_logprobs_arrive_with_their_alternatives(make: Make) -> None:
    top = (TokenLogprob("a", b"a", -0.1), TokenLogprob("b", b"b", -2.0))
    expected = TextDelta("a", (TokenLogprob("a", b"a", -0.1, top),))
    assert (await pieces(make(), "logprobs"))[0] == expected


async def test_a_raw_prompt_goes_past_the_format(make: Make) -> None:
    request = ChatRequest(prompt="raw text", constraint=Constraint("regex", ".*"))
    assert TextDelta("raw text") in [piece async for piece in make().generate(request)]


@pytest.mark.parametrize("leave", ["close", "cancel"])
async def test_whoever_leaves_frees_the_slot(make: Make, leave: str) -> None:
    engine = make()
    began = asyncio.Event()

    async def listen() -> None:
        async with aclosing(engine.generate(says("endless"))) as stream:
            async for _ in stream:
                began.set()
                if leave == "close":
                    return

    task = asyncio.get_running_loop().create_task(listen())
    await began.wait()
    task.cancel()
    await asyncio.wait([task])
    async with asyncio.timeout(30):
        # Each question is a round trip to the worker.
        while (await engine.stats())["running"]:
            pass
    assert len((await engine.stats())["cancelled"]) == 1


async def test_one_too_many_is_refused_at_once() -> None:
    options = EngineOptions(slots=1, queue_limit=1)
    engine = WorkerProcess(
        Path("model.gguf"), options, choose=choose, command=SCRIPTED, limits=QUICK
    )
    async with (
        aclosing(engine.generate(says("endless"))) as first,
        aclosing(engine.generate(says("endless"))) as second,
    ):
        await anext(first)
        await anext(second)
        with pytest.raises(Busy):
            await pieces(engine, "one too many")
    assert await text_of(engine, "room again") == "room again"
    await engine.close()


async def test_a_request_that_cannot_be_sent_takes_no_place() -> None:
    options = EngineOptions(slots=1, queue_limit=1)
    engine = WorkerProcess(
        Path("model.gguf"), options, choose=choose, command=SCRIPTED, limits=QUICK
    )
    unsendable = replace(says("hello"), template_options=(("x", object()),))
    for _ in range(3):
        with pytest.raises(TypeError):
            await drain(engine.generate(unsendable))
    assert await text_of(engine, "there is room") == "there is room"
    await engine.close()


async def test_half_a_surrogate_pair_is_sent_as_a_question_mark(make: Make) -> None:
    assert await text_of(make(), "one \ud83d two") == "one ? two"


async def test_an_answer_that_ended_is_not_cancelled(make: Make) -> None:
    engine = make()
    async with aclosing(engine.generate(says("short"))) as stream:
        async for piece in stream:
            if isinstance(piece, Finished):
                break
    assert (await engine.stats())["cancelled"] == []


@pytest.mark.parametrize(
    ("file", "limits", "sentence"),
    [
        ("broken.gguf", QUICK, "The file is damaged"),
        ("hung.gguf", IMPATIENT, "loading made no progress for 1 s"),
        ("crashing.gguf", QUICK, r"killed by signal 11 \(segmentation fault\)"),
    ],
)
async def test_a_load_that_fails_says_why(
    make: Make, file: str, limits: WatchLimits, sentence: str
) -> None:
    engine = make(file, limits)
    with pytest.raises(ModelLoadFailed, match=sentence):
        await engine.load()
    state = engine.state.get()
    assert state.phase == "failed"
    assert state.reason
    with pytest.raises(ModelLoadFailed, match=sentence):
        await pieces(engine, "hello")


async def test_a_program_that_cannot_be_started_is_a_failed_load() -> None:
    engine = WorkerProcess(Path("m.gguf"), choose=choose, command=["/nowhere/worker"])
    with pytest.raises(ModelLoadFailed, match="could not be started"):
        await engine.load()


async def test_a_restart_that_fails_is_told_to_those_who_wait(make: Make, tmp_path: Path) -> None:
    engine = make(tmp_path / "once.gguf")
    with pytest.raises(ModelLoadFailed, match="signal 6"):
        await pieces(engine, "fault SIGKILL")
    assert engine.state.get().phase == "failed"


async def test_questions_are_answered_and_refused(make: Make) -> None:
    engine = make()
    assert await engine.tokenize("ab") == [97, 98]
    assert await engine.detokenize([97, 98]) == "ab"
    assert await engine.apply_template(says("hi")) == "[{'role': 'user', 'content': 'hi'}]"
    with pytest.raises(NotSupported, match="This model cannot"):
        await engine.embed(["a"])


async def test_closing_ends_the_running_answers_and_the_process(make: Make) -> None:
    engine = make()
    stream = engine.generate(says("endless"))
    await anext(stream)
    pid = engine.pid
    assert pid
    await engine.close()
    with pytest.raises(Stopping):
        await drain(stream)
    assert not psutil.pid_exists(pid)
    assert engine.state.get() == LoadState()
    with pytest.raises(Stopping):
        await pieces(engine, "late")


async def test_closing_while_loading_leaves_nothing(make: Make) -> None:
    engine = make("hung.gguf", WatchLimits(quit_s=0.2))
    loading = asyncio.get_running_loop().create_task(engine.load())
    await until(engine, "loading")
    await engine.close()
    with pytest.raises(Stopping):
        await loading


async def test_a_worker_need_not_write_on_behind_a_stop_text() -> None:
    def prepare(_request: ChatRequest, _facts: ModelFacts) -> Prepared:
        parser = ScriptParser(plain.script(None, opened=False), ("re more",))
        return Prepared(({"role": "user", "content": "endless"},), parser)

    style = Format("test", lambda _facts: True, prepare)
    engine = WorkerProcess(
        Path("model.gguf"), choose=lambda _facts: style, command=SCRIPTED, limits=QUICK
    )
    made = await pieces(engine, "endless")
    assert "".join(one.text for one in made if isinstance(one, TextDelta)) == "mo"
    assert made[-1] == Finished("stop", Usage(3, 0, 2), "re more")
    assert len((await engine.stats())["cancelled"]) == 1
    await engine.close()
