"""The models on this machine: those of our folder, and those that other programs keep."""

import json
import os
import sys
from pathlib import Path

import pytest

from server.errors import BadRequest, ModelNotFound, NoModel
from server.models import library as starter
from server.models.gguf.files import Headers
from server.models.gguf.header import Header
from server.models.library import PROJECTOR_LAYER, Library, models_in, title_of
from server.models.library import find_stores as find
from tests.kit import without_rights
from tests.kit.gguf_files import write, write_model


def ollama(folder: Path) -> Path:
    blob = folder / "blobs" / ("sha256-" + "a" * 64)
    write_model(blob)
    manifest = folder / "manifests" / "registry.ollama.ai" / "library" / "llama3.2" / "1b"
    manifest.parent.mkdir(parents=True)
    layer = {"mediaType": "application/vnd.ollama.image.model", "digest": "sha256:" + "a" * 64}
    manifest.write_text(json.dumps({"layers": [layer]}))
    (manifest.parent / "broken").write_text("{")
    evil = {**layer, "digest": "../../../etc/passwd"}
    (manifest.parent / "evil").write_text(json.dumps({"layers": [evil]}))
    return blob


def test_the_store_of_ollama_is_read_by_its_manifests(tmp_path: Path):
    blob = ollama(tmp_path)
    (model,) = models_in(tmp_path)
    assert (model.name, model.path, model.projector) == ("llama3.2:1b", blob, None)


def test_the_projector_of_ollamas_model_comes_with_it(tmp_path: Path):
    ollama(tmp_path)
    (tmp_path / "blobs" / "sha256-eyes").write_bytes(b"GGUF")
    (manifest,) = (tmp_path / "manifests").rglob("1b")
    layers = json.loads(manifest.read_text())["layers"]
    layers.append({"mediaType": PROJECTOR_LAYER, "digest": "sha256:eyes"})
    manifest.write_text(json.dumps({"layers": layers}))
    (model,) = models_in(tmp_path)
    assert model.projector == tmp_path / "blobs" / "sha256-eyes"


def test_folders_of_other_programs_are_offered(tmp_path: Path):
    studio = tmp_path / ".lmstudio" / "models"
    write_model(studio / "maker" / "repo" / "m-Q4_K_M.gguf")
    hidden = tmp_path / ".cache" / "huggingface" / "hub"
    write_model(hidden / "models--a--b" / "snapshots" / "1" / "n.gguf")
    ollama(tmp_path / "elsewhere")
    variables = {"OLLAMA_MODELS": str(tmp_path / "elsewhere")}
    found = {one.program: one for one in find(tmp_path, variables, frozenset({str(studio)}))}
    assert set(found) == {"LM Studio", "Hugging Face cache", "Ollama"}
    assert found["LM Studio"].used
    assert not found["Ollama"].used
    assert all(one.models == 1 and one.size_bytes > 0 for one in found.values())


def test_only_the_first_part_of_a_split_model_and_nothing_hidden_is_listed(tmp_path: Path):
    for name in ("m-00001-of-00002.gguf", "m-00002-of-00002.gguf", ".downloads/x/0.gguf"):
        write_model(tmp_path / name)
    assert [model.name for model in models_in(tmp_path)] == ["m"]
    assert list(models_in(tmp_path / "missing")) == []


def test_no_manifest_keeps_the_others_from_being_read(tmp_path: Path):
    ollama(tmp_path)
    (manifest,) = (tmp_path / "manifests").rglob("1b")
    (manifest.parent / "deep").write_text("[" * 200_000)
    other = tmp_path / "other"
    ollama(other)
    (other / "manifests" / "registry.ollama.ai" / "library").rename(other / "elsewhere")
    text = (other / "elsewhere" / "llama3.2" / "1b").read_text()
    (other / "manifests" / "registry.ollama.ai" / "library").write_text(text)
    assert [model.name for model in models_in(tmp_path)] == ["llama3.2:1b"]
    assert [model.name for model in models_in(other)] == ["registry.ollama.ai:library"]


WITHOUT_STARTER = (
    "from pathlib import Path\nfrom server.models import library as starter\n"
    "from server.models.library import Library\nstarter.find_starter = lambda: None"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "maker").mkdir()
    (tmp_path / "maker" / "big.gguf").write_bytes(b"x" * 10)
    (tmp_path / "notes.txt").write_text("no model")
    return tmp_path


def test_models_in_folders_and_the_starter_are_listed(folder: Path):
    cards = {card.name: card for card in Library([folder]).scan()}
    assert cards["big"].size_bytes == 10
    assert cards[starter.NAME].starter
    assert "trying Moat out" in cards[starter.NAME].label


def test_the_starter_answers_until_another_is_picked(folder: Path):
    library = Library([folder])
    assert library.find(None, "").name == starter.NAME
    assert library.find(None, "big").name == "big"
    assert library.find(None, "deleted since").name == starter.NAME


def test_an_unknown_name_is_refused_with_what_is_there(folder: Path):
    with pytest.raises(ModelNotFound, match="big"):
        Library([folder]).find("nope", "")


def test_a_file_given_by_path_is_a_model_for_this_run(folder: Path):
    library = Library([])
    assert library.find(library.add(folder / "maker" / "big.gguf"), "").name == "big"


def test_without_any_model_the_reader_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(starter, "find_starter", lambda: None)
    with pytest.raises(NoModel, match="Models page"):
        Library([]).find(None, "")


def test_cards_say_what_the_file_says(tmp_path: Path):
    write_model(tmp_path / "m.gguf", **{"general.size_label": "8x7B", "general.file_type": 15})
    (card,) = [card for card in Library([tmp_path]).scan() if not card.starter]
    assert (card.parameters, card.quantisation) == (56_000_000_000, "Q4_K_M")
    assert card.trained_context_tokens == 256


def test_what_is_no_model_says_so(tmp_path: Path):
    (tmp_path / "bad.gguf").write_bytes(b"hello")
    (card,) = [card for card in Library([tmp_path]).scan() if not card.starter]
    assert "damaged" in card.label


def test_a_split_model_is_one_with_the_size_of_all(tmp_path: Path):
    for number in (1, 2):
        write_model(tmp_path / f"m-{number:05d}-of-00002.gguf")
    (card,) = [card for card in Library([tmp_path]).scan() if not card.starter]
    one = (tmp_path / "m-00001-of-00002.gguf").stat().st_size
    assert (card.name, card.size_bytes) == ("m", 2 * one)


def test_projectors_are_not_models(tmp_path: Path):
    write_model(tmp_path / "mmproj.gguf", **{"general.type": "mmproj"})
    assert [card for card in Library([tmp_path]).scan() if not card.starter] == []


def test_two_files_of_one_name_are_told_apart(tmp_path: Path):
    for folder in ("a", "b"):
        write_model(tmp_path / folder / "m.gguf")
    names = {card.name for card in Library([tmp_path]).scan()}
    assert {"m", "b/m"} <= names


def test_files_and_folders_can_be_added_later(tmp_path: Path):
    write_model(tmp_path / "x" / "m.gguf")
    library = Library([])
    library.look_in([], [tmp_path / "x" / "m.gguf"])
    assert "m" in {card.name for card in library.scan()}


def test_a_file_added_alone_has_the_eyes_beside_it(tmp_path: Path):
    write_model(tmp_path / "m.gguf")
    write_model(tmp_path / "mmproj-m.gguf", **{"general.type": "mmproj"})
    library = Library([])
    library.look_in([], [tmp_path / "m.gguf"])
    (card,) = [card for card in library.scan() if not card.starter]
    assert card.projector == str(tmp_path / "mmproj-m.gguf")


@pytest.mark.parametrize("label", ["1.2.3B", "9" * 400 + "B", "9" * 5000 + "x1B", ".B", "٣B"])
def test_an_odd_size_in_a_file_is_no_size(tmp_path: Path, label: str):
    write(tmp_path / "odd.gguf", {"general.size_label": label}, ())
    (card,) = [card for card in Library([tmp_path]).scan() if not card.starter]
    assert (card.name, card.parameters) in {("odd", 0), ("odd", 3_000_000_000)}


class Stumbling(Headers):
    """Reads every file but one."""

    def peek(self, path: Path) -> Header | None:
        if path.stem == "odd":
            raise OverflowError
        return super().peek(path)


def test_a_file_nobody_thought_of_costs_only_itself(tmp_path: Path):
    write_model(tmp_path / "good.gguf")
    write_model(tmp_path / "odd.gguf")
    cards = {card.name: card for card in Library([tmp_path], Stumbling()).scan()}
    assert "damaged" in cards["odd"].label
    assert cards["good"].label == ""


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX system")
def test_what_may_not_be_reached_is_passed_over():
    with without_rights.folders() as (opened, locked):
        for name in ("a.gguf", "m-00001-of-00002.gguf"):
            write_model(opened / name)
        for name in ("m.gguf", "m-00002-of-00002.gguf"):
            write_model(locked / name)
        (opened / "link.gguf").symlink_to(locked / "m.gguf")
        (opened / "m-00002-of-00002.gguf").symlink_to(locked / "m-00002-of-00002.gguf")
        without_rights.lock(locked)
        work = (
            "library = Library([])\n"
            "library.look_in([Path(sys.argv[1]), Path(sys.argv[2])], [Path(sys.argv[2], 'm.gguf')])"
            "\nprint(*(card.name for card in library.scan()))"
        )
        assert without_rights.said(WITHOUT_STARTER, work, opened, locked) == "a m\n"


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
def test_a_name_that_is_no_text_can_be_shown(tmp_path: Path):
    path = os.fsencode(tmp_path) + b"/mod\xe9l.gguf"
    write_model(Path(os.fsdecode(path)))
    (card,) = [card for card in Library([tmp_path]).scan() if not card.starter]
    assert card.name == "mod\N{REPLACEMENT CHARACTER}l"
    assert os.fsencode(card.path) == path


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
def test_two_names_that_look_the_same_are_told_apart(tmp_path: Path):
    for byte in (b"\xe9", b"\xe8"):
        folder = os.fsdecode(os.fsencode(tmp_path) + b"/" + byte)
        write_model(Path(os.fsdecode(os.fsencode(folder) + b"/" + byte + b".gguf")))
    names = [card.name for card in Library([tmp_path]).scan() if not card.starter]
    assert len(set(names)) == 2


def test_a_newcomer_does_not_take_over_the_name_of_another(tmp_path: Path):
    library = Library([tmp_path])
    for number, maker in enumerate(("lmstudio", "bartowski")):
        write_model(tmp_path / maker / "Q-GGUF" / "Q.gguf")
        os.utime(tmp_path / maker / "Q-GGUF" / "Q.gguf", (number, number))
        cards = {card.name: Path(card.path) for card in library.scan()}
        assert cards["Q"].parent.parent.name == "lmstudio"
    assert cards["Q-GGUF/Q"].parent.parent.name == "bartowski"


def test_the_eyes_of_a_model_are_refused_as_a_model(tmp_path: Path):
    write_model(tmp_path / "mmproj-m.gguf", **{"general.type": "mmproj"})
    library = Library([])
    with pytest.raises(BadRequest, match="not a model"):
        library.add(tmp_path / "mmproj-m.gguf")
    assert all(card.starter for card in library.scan())


@pytest.mark.parametrize(
    ("said", "name", "title"),
    [
        ("SmolLM2 135M Instruct", "SmolLM2-135M-Instruct", "SmolLM2 135M Instruct"),
        ("Qwen2.5 Coder 1.5B Instruct GGUF", "qwen2.5-coder-1.5b-instruct-q4_k_m",
         "Qwen2.5 Coder 1.5B Instruct"),
        ("tinyllama_tinyllama-1.1b-chat-v1.0", "tinyllama-1.1b-chat-v1.0.Q4_K_M",
         "tinyllama-1.1b-chat-v1.0"),
        ("LLaMA v2", "Mistral-7B-Instruct-v0.3.IQ3_XXS", "Mistral-7B-Instruct-v0.3"),
        ("", "gpt-oss-20b-mxfp4", "gpt-oss-20b"),
        ("Models", "My_Own-F16", "My Own"),
        ("x" * 61, "plain", "plain"),
    ],
)  # fmt: skip
def test_a_model_has_the_name_that_people_know_it_by(said: str, name: str, title: str) -> None:
    assert title_of(said, name) == title
