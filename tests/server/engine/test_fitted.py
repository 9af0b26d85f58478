"""A setup that cannot be is stepped down until it works, said in one sentence, and remembered."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from server.egress import Egress
from server.engine import fitted
from server.engine.base import EngineOptions, LoadState
from server.engine.fitted import ALL_LAYERS, FittedEngine, Loader, OptionsOf
from server.errors import ModelDamaged, ModelLoadFailed
from server.face.models import Device, Machine
from server.models.fit import RememberedSetups
from server.models.gguf.header import Header
from server.models.service import ModelShelf
from server.settings import ModelSettings, NetworkSettings, Settings
from server.system.keychain import Keychain
from server.tasks import spawn, stop
from tests.kit.engines import ScriptedEngine
from tests.kit.gguf_files import Shape, write_model
from tests.kit.projectors import write_projector


def test_settings_become_options(tmp_path: Path):
    settings = ModelSettings(
        context_tokens=0, gpu_layers=-1, kv_type="q8_0", gpu_split=(3, 1), loras=("tone.gguf",)
    )
    options = OptionsOf(tmp_path)(settings)
    assert (options.context_tokens, options.gpu_layers) == (None, ALL_LAYERS)
    assert (options.kv_type, options.gpu_split) == ("q8_0", (3.0, 1.0))
    assert options.loras == (Path("tone.gguf"),)
    assert options.draft_model is None


def test_a_draft_model_is_loaded_only_where_it_may_guess(tmp_path: Path):
    options_of = OptionsOf(tmp_path)
    assert options_of(ModelSettings(draft_model="small.gguf")).draft_model == Path("small.gguf")
    quiet = ModelSettings(draft_model="small.gguf", speculate=False)
    assert options_of(quiet).draft_model is None


def test_conversations_are_kept_on_disk_only_where_that_is_wanted(tmp_path: Path):
    folder = tmp_path / "conversations"
    folder.mkdir()
    options_of = OptionsOf(folder)
    wanted = ModelSettings(prompt_disk_mb=100)
    assert options_of(wanted).prompt_folder == folder
    options_of.forget(wanted)
    assert folder.is_dir()
    options_of.forget(ModelSettings())
    assert options_of(ModelSettings()).prompt_folder is None
    assert not folder.exists()


GB = 1 << 30
MB = 1 << 20
CARD = Device("A card", "CUDA", 8 * GB, 8 * GB)
BIG = Shape(width=1024, layers=16, heads=16, key_heads=8, forward=2048, context=131072)


class SmallMachine:
    """A surveyor that finds as much free memory as the test says."""

    def __init__(self, free: int) -> None:
        self.found = Machine(free * 2, free, 4)

    async def look(self, *, anew: bool = False) -> Machine:
        return self.found

    def machine(self) -> Machine:
        return self.found


class CrampedEngine(ScriptedEngine):
    """Loads only with less context than the machine can really hold."""

    def __init__(self, options: EngineOptions, most_tokens: int) -> None:
        super().__init__()
        self._tokens = (options.context_tokens or 0) * options.slots
        self._most = most_tokens

    async def load(self) -> None:
        if self._tokens > self._most:
            self.state.set(LoadState("failed", 0.0, "no memory"))
            raise ModelLoadFailed("There is not enough memory for the context.")
        self.state.set(LoadState("ready", 1.0))


class Desk:
    def __init__(self, tmp_path: Path, free: int, most_tokens: int = 1 << 40) -> None:
        self.path = tmp_path / "big.gguf"
        write_model(self.path, BIG)
        self.said: list[str] = []
        self.made: list[EngineOptions] = []
        self.worked = tmp_path / "loads.json"
        self._most = most_tokens
        self.egress = Egress(NetworkSettings)
        self.shelf = ModelShelf(
            tmp_path, (self.egress, Keychain(tmp_path / "secrets")), Settings, _unchanged
        )
        self.shelf.surveyor = SmallMachine(free)  # type: ignore[assignment]

    def engine(self, options: EngineOptions) -> FittedEngine:
        loader = Loader(self._make, self.shelf, RememberedSetups(self.worked), self.said.append)
        return FittedEngine(self.path, options, loader)

    def _make(self, _path: Path, options: EngineOptions) -> ScriptedEngine:
        self.made.append(options)
        return CrampedEngine(options, self._most)


async def _unchanged(_field: str, _value: object) -> None:
    raise AssertionError


@asynccontextmanager
async def opened(make: Callable[[], Desk]) -> AsyncIterator[Desk]:
    desk = make()
    try:
        yield desk
    finally:
        await desk.egress.close()


async def test_what_fits_is_loaded_as_asked(tmp_path: Path):
    async with opened(lambda: Desk(tmp_path, 16 * GB)) as desk:
        engine = desk.engine(EngineOptions(context_tokens=4096, slots=2))
        await engine.load()
        assert engine.state.get().phase == "ready"
        assert [(one.context_tokens, one.slots) for one in desk.made] == [(4096, 2)]
        assert desk.said == []


async def test_without_a_context_the_largest_that_fits_is_taken(tmp_path: Path):
    async with opened(lambda: Desk(tmp_path, 4 * GB)) as desk:
        await desk.engine(EngineOptions(slots=1, gpu_layers=ALL_LAYERS)).load()
        (options,) = desk.made
        assert 2048 <= (options.context_tokens or 0) < BIG.context
        assert options.gpu_layers == 0
        assert desk.said == []


async def test_what_cannot_fit_is_not_even_tried(tmp_path: Path):
    async with opened(lambda: Desk(tmp_path, 2 * GB)) as desk:
        engine = desk.engine(EngineOptions(context_tokens=131072, slots=8))
        await engine.load()
        assert engine.state.get().phase == "ready"
        (options,) = desk.made
        assert (options.context_tokens or 0) * options.slots < 131072
        (sentence,) = desk.said
        assert "not enough memory" in sentence
        assert "instead of 131072" in sentence


async def test_a_load_that_fails_for_memory_is_tried_with_less_and_remembered(tmp_path: Path):
    async with opened(lambda: Desk(tmp_path, 4 * GB, most_tokens=9000)) as desk:
        asked = EngineOptions(context_tokens=32768, slots=1)
        await desk.engine(asked).load()
        tries = len(desk.made)
        assert tries > 1
        assert (desk.made[-1].context_tokens or 0) <= 9000
        assert len(desk.said) == 1
        await desk.engine(asked).load()
        assert len(desk.made) == tries + 1
        assert desk.made[-1] == desk.made[-2]
        desk.shelf.surveyor.found = replace(  # type: ignore[attr-defined]
            (await desk.shelf.surveyor.look()), free_bytes=6 * GB
        )
        await desk.engine(asked).load()
        assert desk.made[tries + 1].context_tokens == 32768


async def test_a_failure_that_memory_cannot_explain_is_told_at_once(tmp_path: Path):
    async with opened(lambda: Desk(tmp_path, 64 * GB, most_tokens=1)) as desk:
        engine = desk.engine(EngineOptions(context_tokens=1024, slots=1))
        with pytest.raises(ModelLoadFailed, match="not enough memory"):
            await engine.load()
        assert len(desk.made) == 1
        assert engine.state.get().phase == "failed"


async def test_a_model_too_large_for_the_machine_is_refused_with_the_figures(tmp_path: Path):
    async with opened(lambda: Desk(tmp_path, 200 * MB)) as desk:
        with pytest.raises(ModelLoadFailed, match=r"does not fit: It needs .* GB and .* are free"):
            await desk.engine(EngineOptions(slots=1)).load()
        assert desk.made == []


async def test_a_damaged_file_never_reaches_an_engine(tmp_path: Path):
    async with opened(lambda: Desk(tmp_path, 16 * GB)) as desk:
        desk.path.write_bytes(desk.path.read_bytes()[:5000])
        engine = desk.engine(EngineOptions())
        with pytest.raises(ModelDamaged):
            await engine.load()
        assert desk.made == []
        assert "damaged" in engine.state.get().reason


async def test_what_worked_survives_a_broken_file(tmp_path: Path):
    async with opened(lambda: Desk(tmp_path, 2 * GB)) as desk:
        desk.worked.write_text("{")
        await desk.engine(EngineOptions(context_tokens=131072, slots=8)).load()
        assert len(json.loads(desk.worked.read_text())) == 1


async def test_a_draft_model_is_counted_before_it_is_loaded(tmp_path: Path):
    write_model(tmp_path / "small.gguf", replace(BIG, layers=8))
    async with opened(lambda: Desk(tmp_path, 4 * GB)) as desk:
        asked = EngineOptions(slots=1, draft_model=tmp_path / "small.gguf")
        await desk.engine(asked).load()
        await desk.engine(replace(asked, draft_model=None)).load()
        with_draft, alone = desk.made
        assert (with_draft.context_tokens or 0) < (alone.context_tokens or 0)


async def test_a_card_nobody_uses_is_said(tmp_path: Path):
    async with opened(lambda: Desk(tmp_path, 16 * GB)) as desk:
        note = "A card is there, but this build of the engine cannot use it."
        desk.shelf.surveyor.found = replace(  # type: ignore[attr-defined]
            await desk.shelf.surveyor.look(), devices=(CARD,), note=note
        )
        await desk.engine(EngineOptions(context_tokens=4096, gpu_layers=ALL_LAYERS)).load()
        assert desk.said == [f"big runs on the processor. {note}"]


async def test_a_worker_that_comes_back_without_the_card_is_said(tmp_path: Path):
    async with opened(lambda: Desk(tmp_path, 16 * GB)) as desk:
        inner = ScriptedEngine()
        inner.facts = replace(inner.facts, device="gpu")
        loader = Loader(
            lambda _path, _options: inner,
            desk.shelf,
            RememberedSetups(desk.worked),
            desk.said.append,
        )
        engine = FittedEngine(desk.path, EngineOptions(context_tokens=4096), loader)
        await engine.load()
        assert desk.said == []
        inner.state.set(LoadState("loading"))
        inner.facts = replace(inner.facts, device="cpu")
        inner.state.set(LoadState("ready", 1.0))
        inner.state.set(LoadState("ready", 1.0))
        (sentence,) = desk.said
        assert "could not use the graphics card" in sentence


async def test_a_template_that_could_not_be_tried_out_is_said(tmp_path: Path):
    async with opened(lambda: Desk(tmp_path, 16 * GB)) as desk:
        inner = ScriptedEngine()
        inner.facts.extra.update(template_lost="it did not answer", template_again=True)
        loader = Loader(
            lambda _path, _options: inner,
            desk.shelf,
            RememberedSetups(desk.worked),
            desk.said.append,
        )
        engine = FittedEngine(desk.path, EngineOptions(context_tokens=4096), loader)
        await engine.load()
        inner.facts.extra.update(template_again=False)
        inner.state.set(LoadState("loading"))
        inner.state.set(LoadState("ready", 1.0))
        untried = "big: The chat template could not be tried out: it did not answer. "
        assert desk.said == [
            untried + "System prompts, tools and thoughts may be missing until that succeeds; "
            "it is tried again with the next question.",
            untried + "System prompts, tools or thoughts may not reach the model.",
        ]


async def test_a_projector_that_is_no_good_costs_only_the_eyes(tmp_path: Path):
    async with opened(lambda: Desk(tmp_path, 16 * GB)) as desk:
        damaged = tmp_path / "mmproj.gguf"
        damaged.write_bytes(b"GGUF and nothing more")
        await desk.engine(EngineOptions(context_tokens=4096, projector=damaged)).load()
        assert desk.made[0].projector is None
        assert "mmproj" in desk.said[0]
        unfit = write_projector(tmp_path / "eyes.gguf", width=64)
        await desk.engine(EngineOptions(context_tokens=4096, projector=unfit)).load()
        assert desk.made[1].projector == unfit
        assert desk.said[1:] == [
            "big cannot read images: the vision projector eyes.gguf does not match this model."
        ]


async def test_a_load_whose_client_leaves_is_not_under_way_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    looked, may_end = threading.Event(), threading.Event()

    async with opened(lambda: Desk(tmp_path, 16 * GB)) as desk:
        engine = desk.engine(EngineOptions(context_tokens=4096))
        check = desk.shelf.headers.check

        def slow(path: Path) -> Header:
            looked.set()
            may_end.wait(60)
            return check(path)

        monkeypatch.setattr(desk.shelf.headers, "check", slow)
        loading = spawn(engine.load(), "load")
        await asyncio.to_thread(looked.wait, 10)
        assert engine.state.get().phase == "loading"
        await stop(loading)
        assert engine.state.get() == LoadState()
        may_end.set()
        await engine.load()
        assert engine.state.get().phase == "ready"


async def test_a_long_look_at_the_card_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitted, "SLOW_LOOK_S", 0.0)
    async with opened(lambda: Desk(tmp_path, 16 * GB)) as desk:
        engine, shown = desk.engine(EngineOptions()), list[str]()
        engine.state.connect(lambda state: shown.append(f"{state.phase} {state.reason}".strip()))
        look = desk.shelf.surveyor.look

        async def slow(*, anew: bool = False) -> Machine:
            while not shown[-1:] or "driver" not in shown[-1]:
                await asyncio.sleep(0)
            return await look(anew=anew)

        monkeypatch.setattr(desk.shelf.surveyor, "look", slow)
        await engine.load()
        said = next(n for n, text in enumerate(shown) if text.startswith("loading Looking at"))
        assert shown[said + 1] == "loading"
        assert shown[-1] == "ready"
