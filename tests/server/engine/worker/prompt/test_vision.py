"""A model with eyes: what it sees, that it counts right, and that it remembers."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.kit.by_llama_cpp import next_chances
from tests.kit.projectors import write_projector, write_reader
from tests.kit.worker_client import Outcome, WorkerClient

GREEDY = {"temperature": 0.0, "ignore_eos": True}
MARK = "<__media__>"
SEEN_TOKENS = 64
FACTS = "The report says that revenue rose while margins fell in the third quarter. "


def picture(colour: str, width: int = 90, height: int = 60) -> bytes:
    file = io.BytesIO()
    image = Image.new("RGB", (width, height), colour)
    image.paste("white", (width // 4, height // 4, width // 2, height // 2))
    image.save(file, "PNG")
    return file.getvalue()


@pytest.fixture(scope="module")
def seeing(quick_starter: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerClient]:
    eyes = write_projector(tmp_path_factory.mktemp("eyes") / "mmproj.gguf")
    client = WorkerClient(
        quick_starter, slots=3, context_tokens=2048, queue_limit=8, projector=str(eyes)
    )
    yield client
    assert client.close() == 0


def ask(*images: bytes, text: str = "What does this show, and why?", **more: Any) -> dict[str, Any]:
    message = {"role": "user", "content": f"{MARK}\n" * len(images) + text}
    asked = {"messages": [message], "images": list(images), "max_tokens": 8, "sampling": GREEDY}
    return {**asked, **more}


def first_chances(outcome: Outcome) -> list[float]:
    return [row[2] for row in outcome.logprobs[0][3]]


def test_an_image_is_looked_at(seeing: WorkerClient) -> None:
    assert seeing.facts["sees_images"]
    outcome = seeing.generate(**ask(picture("red")))
    assert outcome.reason == "length"
    assert outcome.usage["completion_tokens"] == 8
    text = seeing.generate(**ask(text="What does this show, and why?"))
    extra = outcome.usage["prompt_tokens"] - text.usage["prompt_tokens"]
    assert SEEN_TOKENS <= extra <= SEEN_TOKENS + 4
    assert outcome.progress[-1] == (outcome.usage["prompt_tokens"],) * 2


def test_another_image_is_another_question(seeing: WorkerClient) -> None:
    asked = [ask(picture(one), max_tokens=1, top_logprobs=5) for one in ("red", "blue")]
    red, blue = (seeing.generate(**question) for question in asked)
    assert first_chances(red) != first_chances(blue)
    assert blue.usage["cached_tokens"] < SEEN_TOKENS


def test_an_image_at_the_end_is_looked_at_once(seeing: WorkerClient) -> None:
    message = {"role": "user", "content": f"What does this show, and why?{MARK}"}
    asked = {**ask(picture("orange")), "messages": [message]}
    first = seeing.generate(**asked)
    looked = seeing.ask("stats")["value"]["pictures"]
    again = seeing.generate(**asked)
    assert again.usage["cached_tokens"] > SEEN_TOKENS
    assert again.usage["prompt_tokens"] == first.usage["prompt_tokens"]
    assert seeing.ask("stats")["value"]["pictures"] == looked


def test_the_same_image_is_looked_at_once(seeing: WorkerClient) -> None:
    first = seeing.generate(**ask(picture("green")))
    looked = seeing.ask("stats")["value"]["pictures"]
    again = seeing.generate(**ask(picture("green")))
    assert again.text == first.text
    assert again.usage["cached_tokens"] == first.usage["prompt_tokens"] - 8
    assert seeing.ask("stats")["value"]["pictures"] == looked


def test_a_conversation_goes_on_after_an_image(seeing: WorkerClient) -> None:
    first = seeing.generate(**ask(picture("navy")))
    turns = [
        {"role": "user", "content": f"{MARK}\nWhat does this show, and why?"},
        {"role": "assistant", "content": first.text},
        {"role": "user", "content": f"{MARK}\nAnd how does this one differ from it?"},
    ]
    asked = {"messages": turns, "images": [picture("navy"), picture("pink")]}
    second = seeing.generate(**asked, max_tokens=4, sampling=GREEDY)
    assert second.usage["cached_tokens"] >= first.usage["prompt_tokens"] - 8


def test_evicted_pictures_come_back_from_host_memory(seeing: WorkerClient) -> None:
    colours = ("lime", "gold", "teal", "plum")
    questions = [ask(picture(one), text=FACTS * 5) for one in colours]
    first = [seeing.generate(**question) for question in questions]
    before = seeing.ask("stats")["value"]
    again = [seeing.generate(**question) for question in questions]
    after = seeing.ask("stats")["value"]
    assert [one.text for one in again] == [one.text for one in first]
    assert after["pictures"] == before["pictures"]
    assert after["restored"] > before["restored"]


def test_images_that_do_not_fit_are_counted_and_refused(seeing: WorkerClient) -> None:
    outcome = seeing.generate(**ask(*[picture("red")] * 40))
    assert outcome.ended[1] == "context_length_exceeded"
    assert outcome.ended[3]["needed"] > 40 * SEEN_TOKENS


def test_a_bad_image_harms_nobody(seeing: WorkerClient) -> None:
    whole = picture("red")
    for data in (b"", whole[:60], whole.replace(b"IDAT", b"IDAX"), b"GIF89a" + b"\xff" * 99):
        outcome = seeing.generate(**ask(data))
        assert outcome.ended[1] == "invalid_request"
    lost = seeing.generate(prompt="No mark here.", images=[whole])
    assert lost.ended[1] == "template_failed"
    assert seeing.generate(**ask(whole)).reason == "length"


def test_eyes_of_another_model_leave_it_blind(quick_starter: Path, tmp_path: Path) -> None:
    eyes = write_projector(tmp_path / "mmproj.gguf", width=64)
    client = WorkerClient(quick_starter, slots=1, context_tokens=512, projector=str(eyes))
    assert not client.facts["sees_images"]
    assert client.generate(**ask(picture("red"))).ended[1] == "not_supported"
    assert client.generate(prompt="One, two,", max_tokens=2).reason == "length"
    assert client.close() == 0


@pytest.mark.parametrize(
    ("kind", "architecture"),
    [("mlp", "llama"), ("gemma3", "llama"), ("idefics3", "llama"), ("qwen2vl_merger", "qwen2vl")],
    ids=["one row after the other", "all rows at once", "in parts", "rows and columns"],
)
def test_it_sees_what_llama_cpp_sees(tmp_path: Path, kind: str, architecture: str) -> None:
    model = write_reader(tmp_path / "reader.gguf", architecture)
    eyes = write_projector(tmp_path / "mmproj.gguf", kind, width=64)
    prompt = f"abcdefgh{MARK}ijklmnopqrst{MARK}uvwxyzabcdefgh"
    images = [picture("red", 280, 168), picture("blue", 140, 140)]
    client = WorkerClient(model, slots=2, context_tokens=1024, projector=str(eyes), threads=1)
    asked = {"prompt": prompt, "images": images, "sampling": GREEDY, "top_logprobs": 8}
    first = client.generate(**asked, max_tokens=1)
    longer = client.generate(**{**asked, "prompt": prompt + "ijklmnopqr"}, max_tokens=1)
    assert client.close() == 0
    expected, tokens = next_chances(model, eyes, prompt, images)
    assert first.usage["prompt_tokens"] == tokens
    assert first_chances(first) == pytest.approx(expected, abs=1e-3)
    assert longer.usage["cached_tokens"] >= tokens - 8
    expected, _ = next_chances(model, eyes, prompt + "ijklmnopqr", images)
    assert first_chances(longer) == pytest.approx(expected, abs=1e-3)
