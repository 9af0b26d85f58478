"""Whole files are read, damaged ones are refused with the defect named, and nothing hangs."""

import os
from pathlib import Path

import pytest

from server.errors import ModelDamaged
from server.models.gguf import files
from server.models.gguf.files import Headers, check
from tests.kit.gguf_files import Shape, metadata_of, tensors_of, write, write_model
from tests.kit.gguf_mutants import Mutants

MUTANTS = int(os.environ.get("MOAT_MUTANTS", "300"))


def test_the_starter_is_read(starter_model: Path):
    header = check(starter_model)
    assert header.architecture == "llama"
    assert header.parameters == 134_515_008
    assert header.context_tokens == 8192
    assert header.quantisation == "Q4_1"
    assert header.licence == "apache-2.0"
    assert header.vocabulary == 49152
    assert "im_start" in header.template
    assert header.weight_bytes < starter_model.stat().st_size


@pytest.mark.parametrize("version", [2, 3])
def test_both_versions_are_read(tmp_path: Path, version: int):
    shape = Shape()
    write(tmp_path / "a.gguf", metadata_of(shape), tensors_of(shape), version)
    assert check(tmp_path / "a.gguf").version == version


def test_a_file_that_is_not_there_or_empty_is_refused(tmp_path: Path):
    (tmp_path / "empty.gguf").touch()
    with pytest.raises(ModelDamaged, match="another kind of file"):
        check(tmp_path / "empty.gguf")
    with pytest.raises(ModelDamaged, match="cannot be read"):
        check(tmp_path / "none.gguf")


@pytest.mark.parametrize(
    "architecture", ["../../../etc/passwd", "a b", "llama\x1b[31m", "\u202ella"]
)
def test_a_name_of_an_architecture_that_cannot_be_one_is_refused(tmp_path: Path, architecture: str):
    shape = Shape()
    metadata = {**metadata_of(shape), "general.architecture": architecture}
    write(tmp_path / "a.gguf", metadata, tensors_of(shape))
    with pytest.raises(ModelDamaged, match="architecture has characters not allowed"):
        check(tmp_path / "a.gguf")


def test_a_file_without_weights_or_layers_is_no_model(tmp_path: Path):
    metadata, tensors = metadata_of(Shape()), tensors_of(Shape())
    write(tmp_path / "a.gguf", metadata, [])
    with pytest.raises(ModelDamaged, match="holds no tensors"):
        check(tmp_path / "a.gguf")
    write(tmp_path / "b.gguf", metadata, [one for one in tensors if not one[0].startswith("blk.")])
    with pytest.raises(ModelDamaged, match="has no layers"):
        check(tmp_path / "b.gguf")
    write(tmp_path / "c.gguf", {**metadata, "general.type": "adapter"}, tensors)
    with pytest.raises(ModelDamaged, match="adapter"):
        check(tmp_path / "c.gguf")


def test_what_a_file_says_of_itself_steers_no_screen(tmp_path: Path):
    said = {"general.name": "Good\x1b]0;owned\x07\u202emodel\r\nx", "general.license": "mit\x9b2J"}
    write(tmp_path / "a.gguf", {**metadata_of(Shape()), **said}, tensors_of(Shape()))
    header = check(tmp_path / "a.gguf")
    assert header.name == "Good]0;ownedmodel x"
    assert header.licence == "mit2J"


def test_a_file_cut_in_its_weights_is_refused_with_the_tensor_named(tmp_path: Path):
    path = tmp_path / "cut.gguf"
    write_model(path)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 100)
    with pytest.raises(ModelDamaged, match=r"blk.1.ffn_down.weight ends .* bytes behind"):
        check(path)


def test_a_header_longer_than_the_first_look_is_read(tmp_path: Path):
    shape = Shape(tokens=120_000)
    write_model(tmp_path / "long.gguf", shape)
    assert check(tmp_path / "long.gguf").vocabulary == 120_000


def split(folder: Path, parts: int = 2) -> Path:
    shape = Shape()
    tensors = tensors_of(shape)
    half = len(tensors) // parts
    for number in range(parts):
        last = number == parts - 1
        own = tensors[number * half : None if last else (number + 1) * half]
        facts = {"split.no": number, "split.count": parts, "split.tensors.count": len(tensors)}
        metadata = facts if number else metadata_of(shape, **facts)
        write(folder / f"m-{number + 1:05d}-of-{parts:05d}.gguf", metadata, own)
    return folder / f"m-00001-of-{parts:05d}.gguf"


def test_the_files_of_a_split_model_are_one(tmp_path: Path):
    header = check(split(tmp_path))
    assert header.shards == 2
    assert len(header.tensors) == len(tensors_of(Shape()))


def test_a_split_model_with_a_missing_file_is_refused(tmp_path: Path):
    first = split(tmp_path, 3)
    (tmp_path / "m-00002-of-00003.gguf").unlink()
    with pytest.raises(ModelDamaged, match="file 2 of 3 is missing"):
        check(first)
    with pytest.raises(ModelDamaged, match="not the first file"):
        check(tmp_path / "m-00003-of-00003.gguf")


def test_a_split_model_is_whole_once_its_missing_file_is_there(tmp_path: Path):
    first, headers = split(tmp_path), Headers()
    second = tmp_path / "m-00002-of-00002.gguf"
    second.rename(tmp_path / "elsewhere")
    for _ in range(2):
        with pytest.raises(ModelDamaged, match="file 2 of 2 is missing") as found:
            headers.check(first)
        assert len(found.traceback) < 5
    (tmp_path / "elsewhere").rename(second)
    assert headers.check(first).shards == 2


def test_a_split_model_with_a_file_of_another_is_refused(tmp_path: Path):
    first = split(tmp_path)
    write_model(tmp_path / "m-00002-of-00002.gguf")
    with pytest.raises(ModelDamaged):
        check(first)


def test_mutants_are_refused_with_the_defect_named_and_none_hangs(tmp_path: Path):
    """What passes is harmless: token texts, other token ids, a longer context."""
    mutants = Mutants(tmp_path)
    refused = 0
    for number in range(MUTANTS):
        mutants.make(number, tmp_path / "mutant.gguf")
        try:
            check(tmp_path / "mutant.gguf")
        except ModelDamaged as error:
            refused += bool(error.defect)
    assert refused >= 0.98 * MUTANTS


def test_an_unchanged_file_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write_model(tmp_path / "m.gguf")
    headers = Headers()
    first = headers.check(tmp_path / "m.gguf")
    monkeypatch.setattr(files, "check", None)
    assert headers.check(tmp_path / "m.gguf") is first


def test_a_changed_file_is_read_again(tmp_path: Path):
    write_model(tmp_path / "m.gguf")
    headers = Headers()
    headers.check(tmp_path / "m.gguf")
    write_model(tmp_path / "m.gguf", Shape(context=512))
    os.utime(tmp_path / "m.gguf", ns=(1, 1))
    assert headers.check(tmp_path / "m.gguf").context_tokens == 512


def test_a_damaged_file_stays_damaged_until_it_changes(tmp_path: Path):
    (tmp_path / "m.gguf").write_bytes(b"x")
    headers = Headers()
    for _ in range(2):
        with pytest.raises(ModelDamaged):
            headers.check(tmp_path / "m.gguf")
    assert headers.peek(tmp_path / "m.gguf") is None
    assert headers.peek(tmp_path / "missing.gguf") is None
