"""A worker process behind the Engine face: loads, answers, refuses, stops."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from server.chat import ChatRequest, Constraint
from server.engine.base import EngineOptions, LoadState, ModelFacts
from server.engine.process import WorkerProcess
from server.engine.styles import plain
from server.engine.styles.base import Format, Prepared
from server.engine.styles.stream import ScriptParser
from server.engine.watch import Limits
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
from server.events import Finished, Piece, PromptProgress, TextDelta, TokenLogprob, Usage
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
    make: Make, file: str, limits: Limits, sentence: str
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
    engine = make("hung.gguf", Limits(quit_s=0.2))
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
