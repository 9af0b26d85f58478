"""What worked is recalled for the same model, machine and wish, until there is more room."""

from dataclasses import replace
from pathlib import Path

from server.face.models import Device, Machine, Setup
from server.models.remembered_setups import Worked

ASKED = Setup(32768, 4, gpu_split=(3.0, 1.0))
TAKEN = Setup(8192, 1, "q8_0", 0, gpu_split=(3.0, 1.0))
MACHINE = Machine(16 << 30, 4 << 30)


def test_it_is_recalled_by_the_next_run(tmp_path: Path):
    model = tmp_path / "m.gguf"
    model.write_bytes(b"x" * 10)
    Worked(tmp_path / "loads.json").remember(model, ASKED, TAKEN, MACHINE)
    worked = Worked(tmp_path / "loads.json")
    assert worked.recall(model, ASKED, MACHINE) == TAKEN
    assert worked.recall(model, Setup(16384), MACHINE) is None
    assert worked.recall(model, ASKED, replace(MACHINE, free_bytes=8 << 30)) is None
    assert worked.recall(model, ASKED, replace(MACHINE, memory_bytes=1)) is None
    model.write_bytes(b"y" * 11)
    assert worked.recall(model, ASKED, MACHINE) is None


def test_a_file_that_cannot_be_written_or_read_is_no_trouble(tmp_path: Path):
    model = tmp_path / "m.gguf"
    (tmp_path / "loads.json").write_text('{"m.gguf:0:17179869184:": {"asked": 1}}')
    assert Worked(tmp_path / "loads.json").recall(model, ASKED, MACHINE) is None
    (tmp_path / "file").touch()
    Worked(tmp_path / "file" / "loads.json").remember(model, ASKED, TAKEN, MACHINE)


def test_a_card_that_was_used_is_missed(tmp_path: Path):
    worked = Worked(tmp_path / "loads.json")
    assert worked.last_card(MACHINE) == ""
    card = Device("A card", "CUDA", 1, 2)
    assert worked.last_card(replace(MACHINE, devices=(card,), engine_uses_gpu=True)) == ""
    assert Worked(tmp_path / "loads.json").last_card(MACHINE) == "A card"


def test_a_card_the_engine_never_used_is_not_missed(tmp_path: Path):
    worked = Worked(tmp_path / "loads.json")
    worked.last_card(replace(MACHINE, devices=(Device("A card", "CUDA", 1, 2),)))
    assert worked.last_card(MACHINE) == ""
