"""The machine is read truthfully."""

import asyncio
import json
import sys
from dataclasses import asdict
from pathlib import Path

import psutil
import pytest

from server.models import machine
from server.models.machine import Surveyor, read_nvidia
from server.system import backends
from server.tasks import spawn, stop
from tests.kit.fake_shelf import rate
from tests.kit.until import until

MB = 1 << 20


async def test_memory_is_what_is_free_now():
    found = await Surveyor().look()
    assert 0 < found.free_bytes <= found.memory_bytes <= psutil.virtual_memory().total
    assert found.cores >= 1


async def test_the_pace_is_measured_once_and_kept(tmp_path: Path) -> None:
    surveyor = Surveyor(tmp_path / "pace.json")
    assert not surveyor.machine().pace.rates
    await surveyor.measure()
    pace = surveyor.machine().pace
    assert {"Q4_K", "Q8_0", "F16"} <= {rate.form for rate in pace.rates}
    assert all(rate.bytes_per_s > 1e7 and rate.values_per_s > 1e7 for rate in pace.rates)
    assert 0 < pace.step_s < 0.1
    assert Surveyor(tmp_path / "pace.json").machine().pace == pace
    await surveyor.measure()
    assert surveyor.machine().pace is pace
    await surveyor.close()


class Bench:
    """Stands for the worker that measures: each measure finds the next of these."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *found: tuple[float, float]) -> None:
        self.left, self.count = list(found), 0
        monkeypatch.setattr(machine, "_output", self.measure)

    async def measure(self, *_command: object) -> bytes:
        self.count += 1
        speed, others = self.left.pop(0)
        found = asdict(rate("Q4_K", speed, speed))
        return json.dumps({"rates": [found], "step_s": 1e-6, "others": others}).encode()


def speed_of(surveyor: Surveyor) -> float:
    return max((rate.values_per_s for rate in surveyor.machine().pace.rates), default=0.0)


async def test_a_disturbed_measure_is_made_again_soon_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "AGAIN_S", (0.01, 0.01, 0.01))
    bench = Bench(monkeypatch, (21e9, 1.4), (30e9, 0.9), (54e9, 0.1))
    surveyor = Surveyor(tmp_path / "pace.json")
    settled = asyncio.Event()
    await surveyor.measure()
    assert speed_of(surveyor) == pytest.approx(21e9)
    surveyor.pace.connect(lambda _: settled.set() if surveyor.is_settled else None)
    async with asyncio.timeout(10):
        await settled.wait()
    assert (speed_of(surveyor), bench.count) == (pytest.approx(54e9), 3)
    await surveyor.measure()
    assert bench.count == 3
    assert speed_of(Surveyor(tmp_path / "pace.json")) == pytest.approx(54e9)
    await surveyor.close()


async def test_nothing_is_measured_while_moat_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "AGAIN_S", (0.01,))
    monkeypatch.setattr(machine, "QUIET_S", 0.02)
    monkeypatch.setattr(machine, "LOOK_S", 0.01)
    bench, surveyor = Bench(monkeypatch, (54e9, 0.0)), Surveyor()
    is_computing, measured = True, asyncio.Event()
    surveyor.is_quiet = lambda: not is_computing
    surveyor.pace.connect(lambda pace: measured.set() if pace.rates else None)
    async with asyncio.timeout(10):
        for _ in range(3):
            await surveyor.measure()
        assert bench.count == 0
        is_computing = False
        await measured.wait()
    assert (bench.count, speed_of(surveyor)) == (1, pytest.approx(54e9))
    await surveyor.close()


async def test_a_measure_that_is_given_up_leaves_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = tmp_path / "begun"
    code = f"import os, pathlib, time; pathlib.Path({str(begun)!r}).write_text(str(os.getpid()))"
    command = [sys.executable, "-c", f"{code}; time.sleep(600)"]
    monkeypatch.setattr(machine, "_worker", lambda _flag: (command, None))
    surveyor = Surveyor()
    measuring = spawn(surveyor.measure(), "measure")
    await until(lambda: begun.exists() and begun.read_text())
    await stop(measuring)
    assert not psutil.pid_exists(int(begun.read_text()))
    await surveyor.close()


async def test_who_asks_for_a_measure_gets_it_though_moat_computes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(machine, "QUIET_S", 0.02)
    bench, surveyor = Bench(monkeypatch, (21e9, 1.0)), Surveyor()
    surveyor.is_quiet = lambda: False
    await surveyor.measure(anew=True)
    assert (bench.count, speed_of(surveyor)) == (1, pytest.approx(21e9))
    await surveyor.close()


def test_a_kept_pace_that_cannot_be_read_is_forgotten(tmp_path: Path) -> None:
    kept = tmp_path / "pace.json"
    kept.write_text(json.dumps({machine._pace_key(): {"rates": "none"}}))
    assert not Surveyor(kept).machine().pace.rates


def test_the_cards_of_nvidia_are_read():
    text = "NVIDIA RTX 4090, 24564, 20000\nbroken line\nNVIDIA T4, [N/A], 1\n"
    (card,) = read_nvidia(text)
    assert (card.name, card.backend) == ("NVIDIA RTX 4090", "CUDA")
    assert (card.free_bytes, card.total_bytes) == (20000 * MB, 24564 * MB)


async def test_a_card_the_engine_cannot_use_is_said(monkeypatch: pytest.MonkeyPatch):
    async def cards() -> tuple[machine.Device, ...]:
        return (machine.Device("A card", "CUDA", 1, 2),)

    monkeypatch.setattr(machine, "find_nvidia", cards)
    for anew in (False, True):
        found = await Surveyor().look(anew=anew)
        assert found.engine_uses_gpu or "cannot use it" in found.note


async def test_with_another_folder_of_support_the_engine_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    asked: list[Path | None] = []

    async def engine() -> bytes:
        asked.append(backends.folder())
        return b'{"gpu": true, "devices": []}'

    monkeypatch.setattr(machine, "_engine", engine)
    monkeypatch.setattr(machine, "_may_use_gpu", lambda: bool(backends.found(backends.folder())))
    monkeypatch.setenv(backends.VARIABLE, str(tmp_path / "none"))
    surveyor = Surveyor()
    assert not (await surveyor.look()).engine_uses_gpu
    (tmp_path / "libggml-vulkan.so").touch()
    monkeypatch.setenv(backends.VARIABLE, str(tmp_path))
    for _ in range(2):
        assert (await surveyor.look()).engine_uses_gpu
    monkeypatch.setenv(backends.VARIABLE, str(tmp_path / "none"))
    assert not (await surveyor.look()).engine_uses_gpu
    assert asked == [tmp_path]


def test_a_container_has_less_than_the_machine(tmp_path, monkeypatch: pytest.MonkeyPatch):
    for name, text in {
        "memory.max": "1000",
        "memory.current": "700",
        "memory.stat": "anon 5\ninactive_file 200\n",
    }.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(machine, "GROUP", tmp_path)
    monkeypatch.setattr(machine, "_may_use_gpu", lambda: False)
    found = Surveyor().machine()
    assert (found.memory_bytes, found.free_bytes) == (1000, 500)


async def test_the_engine_and_what_is_inside_it_are_named() -> None:
    assert " with ggml " in await Surveyor().engine_build()


async def test_an_engine_that_does_not_say_what_is_inside_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def engine() -> bytes:
        return b'{"version": "1", "ggml": "", "system": "CPU"}'

    monkeypatch.setattr(machine, "_engine", engine)
    assert await Surveyor().engine_build() == "llama-cpp-python 1: CPU"
