import pytest

from app.look.summary import Summary, describe_model, phase_of, sentence, size, summarise, watch
from server.errors import ModelDamaged, ModelLoadFailed, OutOfMemory
from server.face.core import ModelStatus, RunningRequest, ServerStatus
from tests.kit.fake_core import LOADED, SERVING, STARTER, FakeCore

ASKING = RunningRequest(1, "OpenBB", "/v1/query", "m", 0.0, "writing", 7)


@pytest.mark.parametrize(
    ("server", "model", "requests", "look", "headline"),
    [
        (ServerStatus("stopped"), LOADED, (), "stopped", "Moat is stopped"),
        (ServerStatus("starting"), LOADED, (), "loading", "Moat is starting"),
        (ServerStatus("failed", reason="No."), LOADED, (), "failed", "The server is not running"),
        (SERVING, ModelStatus("loading", "m", 0.4), (), "loading", "Loading m"),
        (SERVING, ModelStatus("failed", "m", reason="No."), (), "failed", "m could not be loaded"),
        (SERVING, ModelStatus(), (), "ready", "Moat is ready"),
        (SERVING, LOADED, (), "ready", "Moat is ready"),
        (SERVING, LOADED, (ASKING,), "busy", "Answering 1 request"),
        (SERVING, LOADED, (ASKING, ASKING), "busy", "Answering 2 requests"),
    ],
)
def test_each_state_has_a_look_and_a_headline(
    server: ServerStatus,
    model: ModelStatus,
    requests: tuple[RunningRequest, ...],
    look: str,
    headline: str,
) -> None:
    summary = summarise(server, model, requests)
    assert (summary.look, summary.headline) == (look, headline)
    assert summary.detail


def test_a_failure_says_why_and_what_to_do() -> None:
    summary = summarise(SERVING, ModelStatus("failed", "m", reason="Too large."), ())
    assert summary.detail == "Too large."
    assert summary.advice


def test_what_the_reason_says_already_is_not_said_again() -> None:
    fit = "It needs 5 GB and 3 GB are free: close other programs, or choose a smaller model."
    for failure, helps in (
        (ModelLoadFailed(f"m does not fit: {fit}"), False),
        (OutOfMemory("There is not enough memory for a context of 8192 tokens."), True),
        (ModelDamaged("m", "its header is cut off"), False),
    ):
        model = ModelStatus("failed", "m", reason=str(failure), details=failure.details)
        summary = summarise(SERVING, model, ())
        assert ("close other programs" in summary.advice) == helps
        assert "Choose another model" in summary.advice


def test_watching_tells_at_once_and_at_each_change() -> None:
    core = FakeCore.ready()
    seen: list[Summary] = []
    end = watch(core, seen.append)
    before = len(seen)
    core.requests.set((ASKING,))
    assert seen[-1].look == "busy"
    assert len(seen) == before + 1
    end()
    core.requests.set(())
    assert seen[-1].look == "busy"


def test_the_facts_of_a_model_are_one_line() -> None:
    assert describe_model(LOADED, (STARTER,)) == (
        "Q4_1  ·  98 MB  ·  8,192 tokens of context  ·  CPU"
    )
    assert describe_model(ModelStatus(), ()) == ""


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 B"), (999, "999 B"), (98_000_000, "98 MB"), (5_030_000_000, "5.0 GB")],
)
def test_sizes_are_read_at_a_glance(count: int, words: str) -> None:
    assert size(count) == words


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (RunningRequest(1, "", "", "", 0, "waiting"), "Queued"),
        (RunningRequest(1, "", "", "", 0, "reading"), "Reading the prompt"),
        (
            RunningRequest(1, "", "", "", 0, "reading", 0, 8192, 20480),
            "Reading the prompt: 8,192 of 20,480 tokens",
        ),
        (RunningRequest(1, "", "", "", 0, "writing", 1200), "Writing: 1,200 tokens so far"),
    ],
)
def test_what_a_request_is_doing(request_: RunningRequest, words: str) -> None:
    assert phase_of(request_) == words


def test_a_sentence_begins_large() -> None:
    assert (sentence("starter: small"), sentence("")) == ("Starter: small", "")


def test_here_is_said_only_of_a_model_on_this_computer() -> None:
    serving = ServerStatus("ready", "http://127.0.0.1:7777")
    near = summarise(serving, ModelStatus("ready", "m", hosts=("127.0.0.1:1",)), ())
    assert (near.detail, near.away) == ("m runs on this computer.", "")
    far = summarise(serving, ModelStatus("ready", "m", hosts=("gpu:8000",)), ())
    assert far.detail == far.away == "m runs at gpu:8000. Prompts are sent there."


def test_a_load_that_has_a_reason_says_it() -> None:
    summary = summarise(SERVING, ModelStatus("loading", "m", reason="It was killed."), ())
    assert summary.detail == "It was killed."
