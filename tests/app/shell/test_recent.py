from PySide6.QtCore import QSettings

from app.shell.tray import KEPT, RecentModels
from server.face.core import ModelStatus
from server.face.models import ModelCard
from tests.kit.fake_core import FakeCore

CARDS = tuple(ModelCard(name, "", 1) for name in ("b", "a", "c"))


def use(core: FakeCore, name: str) -> None:
    core.model.set(ModelStatus("ready", name, 1.0))


def names(recent: RecentModels) -> list[str]:
    return [card.name for card in recent.ordered(CARDS)]


def test_the_last_used_comes_first(memory: QSettings) -> None:
    core = FakeCore()
    recent = RecentModels(core, memory)
    assert (names(recent), recent.count(CARDS)) == (["a", "b", "c"], 0)
    for name in ("c", "b", "c"):
        use(core, name)
    assert (names(recent), recent.count(CARDS)) == (["c", "b", "a"], 2)
    core.model.set(ModelStatus("loading", "a", 0.5))
    assert names(recent)[0] == "c"
    recent.end()
    assert names(RecentModels(FakeCore(), memory)) == ["c", "b", "a"]


def test_one_alone_is_remembered_and_the_list_does_not_grow(memory: QSettings) -> None:
    core = FakeCore()
    RecentModels(core, memory)
    use(core, "b")
    memory.sync()
    again = QSettings(memory.fileName(), QSettings.Format.IniFormat)
    assert names(RecentModels(FakeCore(), again)) == ["b", "a", "c"]
    for number in range(3 * KEPT):
        use(core, f"m{number}")
    assert len(memory.value("models/recent")) == KEPT
