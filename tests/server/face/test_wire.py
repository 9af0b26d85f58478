"""The face over a wire: what a room holds has the room's name before its own."""

from operator import attrgetter

import pytest

from server.core.core import Core
from server.face.wire import COMMANDS, SIGNALS, VALUES, assemble, initial
from server.settings import Settings
from server.system import paths


def test_rooms_stand_before_the_names() -> None:
    assert {"server", "models.cards", "plugins.approvals", "engines.states"} <= set(VALUES)
    assert {"start", "models.download", "plugins.enable", "engines.add"} <= set(COMMANDS)
    assert not {"models", "plugins", "engines"} & {*VALUES, *SIGNALS, *COMMANDS}


def test_the_core_has_what_the_face_names() -> None:
    core = Core(paths.find())
    for name in (*VALUES, *SIGNALS):
        assert attrgetter(f"{name}.connect")(core)
    for name in COMMANDS:
        assert callable(attrgetter(name)(core)), name


def test_parts_are_put_into_their_rooms() -> None:
    face = assemble({"server": 1, "models.cards": 2, "plugins.enable": 3})
    assert (face.server, face.models.cards, face.plugins.enable) == (1, 2, 3)


def test_a_value_begins_with_the_default_of_its_type() -> None:
    assert initial("settings") == Settings()
    assert initial("models.cards") == ()


def test_arguments_have_names() -> None:
    download = COMMANDS["models.download"]
    assert download.name_arguments("a/b", file="c") == {"repo": "a/b", "file": "c"}
    with pytest.raises(TypeError):
        download.name_arguments("a/b")
    with pytest.raises(ValueError, match="expected the arguments"):
        download.read_arguments({"repo": "a/b"})
