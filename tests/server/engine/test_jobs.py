"""A request as a worker gets it, and a worker's items as pieces."""

from dataclasses import replace
from pathlib import Path

from server.chat import ChatRequest, Constraint, Image, Message, Sampling
from server.engine.base import EngineOptions
from server.engine.formats.abilities import Abilities
from server.engine.formats.base import Prepared
from server.engine.formats.messages import native
from server.engine.jobs import PlainText, Reading, facts_of, job_of, options_of
from server.engine.wire import Job, pack, unpack
from server.errors import ContextOverflow
from server.events import Finished, PromptProgress, TextDelta, Usage

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
    stop=("the style's",),
)


def test_the_style_decides_what_the_worker_gets() -> None:
    job = job_of(REQUEST, PREPARED)
    assert job["messages"] == [{"role": "user", "content": "look"}]
    assert job["constraint"] == {"kind": "lark", "source": "the style's", "strict": True}
    assert (job["stop"], job["trigger"]) == (["the style's"], "<call>")
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


def test_an_error_comes_after_the_text_before_it() -> None:
    reading = Reading(PlainText())
    facts = {"needed": 9, "available": 5}
    items = [[1, "text", "a", None], [1, "error", "context_length_exceeded", "", facts]]
    assert reading.pieces(items) == [TextDelta("a")]
    assert isinstance(reading.error, ContextOverflow)
