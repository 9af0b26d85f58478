"""Sends images from clients to a model that sees, and gets an answer or a clear refusal."""

import base64
import io
from collections.abc import Iterator

import anthropic
import ollama
import openai
import pytest
from anthropic.types import ImageBlockParam, MessageParam
from PIL import Image

from tests.kit.projectors import write_projector, write_reader
from tests.kit.running import Moat, serving

QUESTION = "What does this picture show?"


def picture(colour: str = "orange") -> str:
    file = io.BytesIO()
    Image.new("RGB", (120, 80), colour).save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()


@pytest.fixture(scope="module")
def seeing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Moat]:
    folder = tmp_path_factory.mktemp("models")
    write_reader(folder / "Small.gguf", "llama")
    write_projector(folder / "mmproj-Small.gguf", width=64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MOAT_HOME", str(tmp_path_factory.mktemp("seeing-home")))
        patch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
        with serving("--model", str(folder / "Small.gguf")) as running:
            yield running


def ask(address: str, url: str) -> openai.types.chat.ChatCompletion:
    client = openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0)
    with client:
        return client.chat.completions.create(
            model="Small",
            max_tokens=6,
            messages=[
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": QUESTION},
                        {"type": "image_url", "image_url": {"url": url}},
                    ],
                }
            ],
        )


def test_openai_clients_show_images(seeing: Moat) -> None:
    answer = ask(seeing.address, f"data:image/png;base64,{picture()}")
    assert answer.usage is not None
    assert answer.usage.prompt_tokens > 64
    again = ask(seeing.address, f"data:image/png;base64,{picture()}")
    assert again.usage is not None
    assert again.usage.prompt_tokens_details is not None
    assert (again.usage.prompt_tokens_details.cached_tokens or 0) > 64


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:9/x.png",
        "file:///etc/hostname",
        "data:image/png;base64,AAAA",
        f"data:image/png;base64,{base64.b64encode(b'GIF89a' + bytes(400)).decode()}",
    ],
)
def test_what_is_no_image_is_refused(seeing: Moat, url: str) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        ask(seeing.address, url)
    assert refused.value.status_code == 400


def test_ollama_clients_show_images(seeing: Moat) -> None:
    message = {"role": "user", "content": QUESTION, "images": [picture("brown")]}
    with ollama.Client(host=seeing.address) as client:
        assert "vision" in (client.show("Small").capabilities or [])
        answer = client.chat("Small", [message], options={"num_predict": 4})
    assert (answer.prompt_eval_count or 0) > 64


def test_anthropic_clients_show_images(seeing: Moat) -> None:
    image: ImageBlockParam = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": picture("violet")},
    }
    ask: MessageParam = {"role": "user", "content": [image, {"type": "text", "text": QUESTION}]}
    with anthropic.Anthropic(base_url=seeing.address, api_key="none", max_retries=0) as client:
        answer = client.messages.create(model="Small", max_tokens=4, messages=[ask])
    read = answer.usage.input_tokens + (answer.usage.cache_read_input_tokens or 0)
    assert read > 64


def test_a_model_without_eyes_says_so(seeing: Moat) -> None:
    client = openai.OpenAI(base_url=f"{seeing.address}/v1", api_key="none", max_retries=0)
    with client:
        listed = {one.id: one.model_dump()["meta"]["vision"] for one in client.models.list()}
    assert listed.pop("Small")
    assert not any(listed.values())
