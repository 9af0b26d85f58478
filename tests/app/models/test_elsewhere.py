"""The part of the Models page about engines elsewhere."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from app.models.page import ELSEWHERE, ModelsPage
from server.errors import AppError
from server.face.core import ModelStatus
from server.face.models import EngineState, ModelCard
from server.settings import EngineElsewhere
from tests.kit.fake_core import FakeCore
from tests.kit.until import until

Shown = Callable[[Any], Any]
CLUSTER = EngineElsewhere(name="large", urls=("gpu-1:8000", "gpu-2:8000"))
READY = EngineState(CLUSTER, "ready", "", "org/Large-32B", "vllm", 32768, 32_000_000_000)


def opened(core: FakeCore, shown: Shown) -> ModelsPage:
    page: ModelsPage = shown(ModelsPage(core))
    page.parts.choose(ELSEWHERE)
    return page


def test_without_one_it_says_what_to_do(core: FakeCore, shown: Shown) -> None:
    page = opened(core, shown)
    assert page.engines.empty.isVisible()
    assert "enter its address" in page.engines.empty.text()


def test_what_it_is_and_where_prompts_go_is_shown(core: FakeCore, shown: Shown) -> None:
    page = opened(core, shown)
    core.engines.states.set((READY,))
    (line,) = page.engines.list.rows
    assert not page.engines.empty.isVisible()
    assert line.facts.text() == "vllm  ·  org/Large-32B  ·  32B  ·  32,768 tokens of context"
    assert line.where.text() == "Prompts are sent to gpu-1:8000, gpu-2:8000."
    core.engines.states.set((replace(READY, out=("gpu-2:8000",)),))
    assert "gpu-2:8000" in line.note.text()
    core.engines.states.set((replace(READY, phase="failed", reason="It does not respond."),))
    assert (line.note.text(), line.note.words.property("role")) == ("It does not respond.", "bad")


def test_what_is_technical_about_its_failure_is_behind_details(
    core: FakeCore, shown: Shown
) -> None:
    page = opened(core, shown)
    failed = replace(READY, phase="failed", reason="It cannot be reached.", details="OSError: 111")
    core.engines.states.set((failed,))
    (line,) = page.engines.list.rows
    assert line.note.details is not None
    assert line.note.details.text.text() == "OSError: 111"
    assert "OSError" not in line.note.text()
    line.remove.click()
    assert not line.note.details.isVisible()
    core.engines.states.set((READY,))
    line.keep.click()
    assert not line.note.isVisible()


def test_one_on_this_machine_is_said_to_be(core: FakeCore, shown: Shown) -> None:
    page = opened(core, shown)
    core.engines.states.set((EngineState(EngineElsewhere(name="x", urls=("localhost:8080",))),))
    assert page.engines.list.rows[0].where.text() == "On this computer, at localhost:8080."


async def test_it_is_loaded_and_removed_after_a_question(core: FakeCore, shown: Shown) -> None:
    page = opened(core, shown)
    core.engines.states.set((READY,))
    (line,) = page.engines.list.rows
    line.load.click()
    await until(lambda: core.model.get().name == "large")
    assert line.load.text() == "In use"
    line.remove.click()
    assert ("engines.remove", "large") not in core.commands
    line.sure.click()
    await until(lambda: not core.engines.states.get())
    assert page.engines.empty.isVisible()


def test_one_that_was_given_cannot_be_removed(core: FakeCore, shown: Shown) -> None:
    page = opened(core, shown)
    core.engines.states.set((replace(READY, is_given=True),))
    (line,) = page.engines.list.rows
    assert not line.remove.isVisible()
    assert "command line" in line.note.text()


async def test_one_is_tested_and_added_with_its_key(core: FakeCore, shown: Shown) -> None:
    page = opened(core, shown)
    form = page.engine_form
    form.urls.setText("gpu-1:8000, gpu-2:8000")
    form.key.setText("secret")
    form.test.click()
    await until(lambda: form.name.text())
    assert form.name.text() == "Qwen/Qwen3-32B"
    assert "It works" in form.state.text()
    form.name.setText("large")
    form.context.setValue(4096)
    form.add.click()
    await until(core.engines.states.get)
    wanted = CLUSTER.model_copy(update={"context_tokens": 4096})
    assert core.commands[-1] == ("engines.add", wanted, "secret")
    await until(lambda: not form.key.text())


async def test_what_is_wrong_is_said_in_the_form(core: FakeCore, shown: Shown) -> None:
    page = opened(core, shown)
    form = page.engine_form
    form.test.click()
    assert "An engine is written as" in form.state.text()
    form.urls.setText("gpu-1:8000")
    form.add.click()
    assert form.state.text() == "Give it a name."
    await until(lambda: core.commands)  # the page has asked for what it shows
    core.refuse = AppError("The engine at gpu-1:8000 does not accept our key.")
    form.test.click()
    await until(lambda: "does not accept" in form.state.text())
    assert form.test.isEnabled()
    assert not {"engines.add", "engines.test"} & {command[0] for command in core.commands}


def test_models_elsewhere_are_not_listed_among_those_here(core: FakeCore, shown: Shown) -> None:
    card = ModelCard("large", "engine:large", 0, owned="elsewhere", hosts=CLUSTER.hosts)
    core.models.cards.set((*core.models.cards.get(), card))
    core.model.set(ModelStatus("ready", "large", hosts=CLUSTER.hosts))
    page = opened(core, shown)
    assert "large" not in [line.name.text() for line in page.installed.list.rows]
