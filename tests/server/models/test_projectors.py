"""Which projector lets a model see."""

from pathlib import Path

from server.face.models import HubFile
from server.models.gguf.header import Header
from server.models.library import Library
from server.models.repository import choose_projector, pair_projectors
from tests.kit.gguf_files import Shape, write_model

EYES = {"general.type": "mmproj"}


def model(width: int) -> Header:
    metadata = {"general.architecture": "llama", "llama.embedding_length": width}
    return Header(metadata)


def eyes(width: int) -> Header:
    metadata = {"general.architecture": "clip", "clip.vision.projection_dim": width}
    return Header(metadata)


def hub(name: str, quantisation: str) -> HubFile:
    return HubFile(name, quantisation, (name,), 1)


def test_the_named_one_else_the_usual_precision():
    found = [hub("mmproj-Q4.gguf", "Q4_0"), hub("a-F32.gguf", "F32"), hub("a-F16.gguf", "F16")]
    chosen = choose_projector(found)
    assert chosen
    assert chosen.name == "a-F16.gguf"
    assert choose_projector([]) is None


def test_the_models_of_one_kind_share_what_lies_beside_them():
    models = {Path("v-7b-Q4_K_M.gguf"): model(64), Path("v-7b-Q8_0.gguf"): model(64)}
    seeing = {Path("mmproj-BF16.gguf"): eyes(64), Path("mmproj-F32.gguf"): eyes(64)}
    assert set(pair_projectors(models, seeing).values()) == {Path("mmproj-BF16.gguf")}
    assert set(pair_projectors(models, seeing)) == set(models)


def test_where_several_kinds_lie_together_the_name_decides():
    models = {Path("v-7b-Q4_K_M.gguf"): model(64), Path("text-8b-Q4_K_M.gguf"): model(64)}
    seeing = {Path("mmproj-v-7b-F16.gguf"): eyes(64)}
    assert pair_projectors(models, seeing) == {
        Path("v-7b-Q4_K_M.gguf"): Path("mmproj-v-7b-F16.gguf")
    }


def test_one_of_another_width_does_not_fit():
    assert pair_projectors({Path("m.gguf"): model(64)}, {Path("mmproj.gguf"): eyes(128)}) == {}


def test_the_library_remembers_it_with_the_model(tmp_path: Path):
    write_model(tmp_path / "r" / "seeing-Q4_0.gguf")
    write_model(tmp_path / "r" / "mmproj-F16.gguf", Shape(), **EYES)
    write_model(tmp_path / "blind.gguf")
    cards = {card.name: card for card in Library([tmp_path]).scan() if not card.starter}
    assert cards["seeing-Q4_0"].projector == str(tmp_path / "r" / "mmproj-F16.gguf")
    assert cards["blind"].projector == ""
