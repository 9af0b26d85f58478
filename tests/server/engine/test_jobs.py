"""A request as a worker gets it, and a worker's items as pieces."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from server.chat import ChatRequest, Constraint, Image, Message, Sampling, Tool
from server.engine.base import EngineOptions, ModelFacts
from server.engine.jobs import PlainText, Reading, check_fits, facts_of, job_of, options_of
from server.engine.styles import choose, plain
from server.engine.styles.abilities import Abilities
from server.engine.styles.base import Prepared
from server.engine.styles.messages import native
from server.engine.styles.stream import ScriptParser
from server.engine.wire import Job, pack, unpack
from server.errors import ContextOverflow
from server.events import Finished, PromptProgress, ReasoningDelta, TextDelta, Usage

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
    frame = {"op": "x", "job": job_of(REQUEST, PREPARED), "options": options_of(options)}
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
    reading = Reading(choose(facts).prepare(asked, facts).parser)
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
