"""Other programs' models are found where they keep them."""

import json
from pathlib import Path

from server.models.other_programs import PROJECTOR_LAYER, find, models_in
from tests.kit.gguf_files import write_model


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
