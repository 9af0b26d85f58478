"""Settings become options of the engine; conversations no longer wanted are removed."""

from pathlib import Path

from server.engine.options import ALL_LAYERS, OptionsOf
from server.settings import ModelSettings


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
