"""Pictures beside running answers: nobody's words change, nobody waits for long."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.kit.projectors import write_projector
from tests.kit.worker_client import WorkerClient

GREEDY = {"temperature": 0.0, "ignore_eos": True}
TALE = {"prompt": "One, two, three, four,", "sampling": GREEDY}


def picture(number: int) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (40, 40), (number * 20, 90, 200)).save(file, "PNG")
    return file.getvalue()


@pytest.fixture(scope="module")
def seeing(quick_starter: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerClient]:
    eyes = write_projector(tmp_path_factory.mktemp("eyes") / "mmproj.gguf")
    client = WorkerClient(
        quick_starter, slots=2, context_tokens=1024, queue_limit=8, projector=str(eyes)
    )
    yield client
    assert client.close() == 0


def ask(*images: bytes, **more: Any) -> dict[str, Any]:
    message = {"role": "user", "content": "<__media__>\n" * len(images) + "What do they show us?"}
    asked = {"messages": [message], "images": list(images), "sampling": GREEDY}
    return {**asked, **more}


def test_a_running_answer_keeps_its_words_and_its_turns(seeing: WorkerClient) -> None:
    alone = seeing.generate(**TALE, max_tokens=30)
    images = [picture(number) for number in range(3)]
    quiet = seeing.generate(**ask(*images, max_tokens=6))
    others = [picture(number + 3) for number in range(3)]
    running = seeing.start(**TALE, max_tokens=30)
    seeing.item(running)
    looking = seeing.start(**ask(*others, max_tokens=2))
    again = seeing.start(**ask(*images, max_tokens=6))
    told = seeing.wait(running)
    looked = seeing.wait(looking)
    assert seeing.wait(again).text == quiet.text
    assert alone.text.endswith(told.text)
    assert looked.usage["cached_tokens"] < 64
    began = looked.said_at[0]
    assert sum(at < began for at in told.said_at) >= 3


def test_whoever_stops_asking_frees_the_slot(seeing: WorkerClient) -> None:
    images = [picture(number) for number in range(4, 0, -1)]
    cancelled = seeing.ask("stats")["value"]["cancelled"]
    asked = seeing.start(**ask(*images, max_tokens=300))
    seeing.item(asked)
    seeing.send({"op": "cancel", "id": asked})
    fresh = seeing.generate(**ask(*images, max_tokens=6))
    stats = seeing.ask("stats")["value"]
    assert stats["cancelled"] == cancelled + 1
    assert stats["running"] == 0
    unhurried = seeing.generate(**ask(*images, max_tokens=6))
    assert fresh.text == unhurried.text
    assert unhurried.usage["cached_tokens"] == unhurried.usage["prompt_tokens"] - 8
