import re
from base64 import b64decode
from typing import Any

import pytest
from openbb_ai.models import WorkspaceAgent

from server.face.models import ModelCard
from server.protocols.base import Facts
from server.protocols.openbb import ENDPOINTS
from server.protocols.openbb.discovery import agents, copilots

FACTS = Facts(
    "http://localhost:7777",
    (
        ModelCard("small", "s.gguf", 1),
        ModelCard("big", "b.gguf", 2, label="a remark", title="The big one"),
    ),
    "big",
)


def entry(describe: Any, facts: Facts = FACTS) -> Any:
    return describe({}, facts).body["moat"]


def test_the_model_that_answers_is_first_in_the_picker() -> None:
    assert entry(agents)["models"] == [
        {"id": "big", "name": "The big one"},
        {"id": "small", "name": "small"},
    ]


def test_models_of_one_name_are_told_apart() -> None:
    cards = [ModelCard(f"qwen-{one}", "q.gguf", 1, title="Qwen") for one in ("q4", "q8")]
    found = entry(agents, Facts("http://localhost:1", tuple(cards), "qwen-q8"))
    assert [one["name"] for one in found["models"]] == ["qwen-q8", "qwen-q4"]
    assert found["description"] == "A model on your own computer (Qwen)."


def test_the_sdk_accepts_the_features() -> None:
    found = entry(agents)
    WorkspaceAgent(
        id="moat",
        name=found["name"],
        description=found["description"],
        features=found["features"],
    )


@pytest.mark.parametrize("describe", [agents, copilots])
def test_what_the_client_refuses_is_left_out(describe: Any) -> None:
    found = entry(describe, Facts("http://127.0.0.1:1"))
    assert found["image"]
    assert "models" not in found
    assert re.fullmatch(r"http://127\.0\.0\.1:1/\S+", found["endpoints"]["query"])


def test_old_flags_are_only_in_the_old_file() -> None:
    assert entry(copilots)["hasStreaming"] is True
    assert not [name for name in entry(agents) if name.startswith("has")]


def test_every_named_endpoint_exists() -> None:
    served = {endpoint.path for endpoint in ENDPOINTS}
    for describe in (agents, copilots):
        for url in entry(describe)["endpoints"].values():
            assert url.removeprefix(FACTS.address) in served


@pytest.mark.parametrize("describe", [agents, copilots])
def test_the_icon_comes_with_the_file(describe: Any) -> None:
    kind, _, data = entry(describe)["image"].partition(";base64,")
    assert kind == "data:image/svg+xml"
    assert b64decode(data).startswith(b"<svg")


@pytest.mark.parametrize("describe", [agents, copilots])
def test_where_prompts_go_to_another_machine_it_is_named(describe: Any) -> None:
    far = ModelCard("far", "engine:far", 0, title="far", hosts=("gpu:8000", "127.0.0.1:1"))
    near = ModelCard("near", "engine:near", 0, title="near", hosts=("127.0.0.1:1",))
    facts = Facts("http://localhost:1", (far, near), "far")
    said = "A model at gpu:8000 (far). Prompts are sent there."
    assert entry(describe, facts)["description"] == said
    facts = Facts("http://localhost:1", (far, near), "near")
    assert entry(describe, facts)["description"] == "A model on your own computer (near)."
