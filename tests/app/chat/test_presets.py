from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.chat.presets import Presets, PresetStore

Shown = Callable[[Any], Any]


async def test_a_system_prompt_is_kept_under_a_name_chosen_and_forgotten(
    shown: Shown, tmp_path: Path
) -> None:
    store = PresetStore(tmp_path / "prompts.json")
    presets = shown(Presets(store))
    chosen: list[str] = []
    presets.chosen.connect(chosen.append)
    assert presets.list.currentText() == "None"
    assert not presets.save.isEnabled()
    presets.show_text("Answer in German.")
    assert presets.list.currentIndex() == -1
    presets.save.click()
    assert not presets.keep.isEnabled()
    presets.name.setText("German")
    presets.keep.click()
    assert (presets.list.currentText(), presets.naming.isVisible()) == ("German", False)
    again = shown(Presets(PresetStore(tmp_path / "prompts.json")))
    again.chosen.connect(chosen.append)
    again.list.setCurrentIndex(1)
    again.list.activated.emit(1)
    again.list.setCurrentIndex(0)
    again.list.activated.emit(0)
    assert chosen == ["Answer in German.", ""]
    presets.forget.click()
    assert store.all() == {}


def test_a_damaged_file_has_no_presets_and_is_set_aside(tmp_path: Path) -> None:
    file = tmp_path / "prompts.json"
    file.write_text("[")
    assert PresetStore(file).all() == {}
    file.write_text('{"a": 3, "b": " ", "c": "Be brief."}')
    assert PresetStore(file).all() == {"c": "Be brief."}
