"""A clone compiles support for its card beside serving; tools that only pretend stand in."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psutil
import pytest

from server.core import graphics
from server.core.graphics import Build, find_wanted
from server.face.models import Building, GraphicsOffer
from server.observe import Value
from server.system import backends
from tests.kit.until import until

ENGINE = backends.engine_version()
CMAKE = """#!/bin/sh
echo $$ > "$PIDS/$$"
case "$*" in *--build*) ;; *) exit 0;; esac
echo "[ 41%] Building a shader"
[ -n "$SLOW" ] && sleep 600
mkdir -p "$2/bin"
echo library > "$2/bin/libggml-vulkan.so"
echo "[100%] Built target"
"""


@pytest.fixture(autouse=True)
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """With the tools for Vulkan, and the source of the engine in the cache."""
    for folder in ("bin", "pids", f"cache/moat/graphics/vulkan-{ENGINE}/llama_cpp_python-{ENGINE}"):
        (tmp_path / folder).mkdir(parents=True)
    for name, text in (("cmake", CMAKE), ("glslc", "#!/bin/sh\n")):
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PIDS", str(tmp_path / "pids"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("MOAT_CMAKE_ARGS", "-DVulkan_INCLUDE_DIR=/somewhere")
    monkeypatch.setenv(backends.VARIABLE, str(tmp_path / "backends"))
    monkeypatch.setenv(graphics.VARIABLE, "vulkan")
    return


def has_ended() -> bool:
    return all("graphics cards" not in task.get_name() for task in asyncio.all_tasks())


class Desk:
    def __init__(self) -> None:
        self.offer = Value(GraphicsOffer())
        self.seen: list[Building | None] = []
        self.offer.connect(lambda offer: self.seen.append(offer.building))
        self.notices: list[str] = []
        self.ready: list[str] = []
        self.build = Build(self.offer, self.notices.append, self._take)

    async def _take(self, kind: str) -> None:
        self.ready.append(kind)


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    made = Desk()
    yield made
    await made.build.close()


async def test_it_is_compiled_and_put_in_place(tmp_path: Path, desk: Desk) -> None:
    desk.build.begin()
    await until(has_ended)
    assert desk.ready == ["vulkan"]
    assert Building("vulkan", 41) in desk.seen
    assert desk.seen[-1] is None
    library = tmp_path / "backends" / f"vulkan-{ENGINE}" / f"libggml-vulkan-{ENGINE}.so"
    assert library.read_text() == "library\n"
    assert find_wanted("vulkan") == "", "It is there, so nothing is to be done."


async def test_it_ends_with_its_compilers(
    tmp_path: Path, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOW", "1")
    desk.build.begin()
    await until(lambda: Building("vulkan", 41) in desk.seen)
    await desk.build.close()
    assert desk.offer.get().building is None
    numbers = [int(path.name) for path in (tmp_path / "pids").iterdir()]
    await until(lambda: not any(map(psutil.pid_exists, numbers)))
    assert not desk.ready


async def test_a_failure_is_said(tmp_path: Path, desk: Desk) -> None:
    (tmp_path / "bin" / "cmake").write_text("#!/bin/sh\nexit 1\n")
    desk.build.begin()
    await until(has_ended)
    assert "could not be compiled" in desk.notices[0]


async def test_missing_tools_are_named(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOAT_CMAKE_ARGS", "-DVulkan_INCLUDE_DIR=")
    monkeypatch.setenv("PATH", "/nothing")
    desk.build.begin()
    await until(has_ended)
    (notice,) = desk.notices
    assert "install cmake glslc libvulkan-dev spirv-headers" in notice


@pytest.mark.parametrize(
    ("chosen", "has_card", "wanted"),
    [("auto", True, "auto"), ("auto", False, ""), ("off", True, ""), ("cuda", False, "cuda")],
)
def test_without_a_card_nothing_is_compiled_unless_it_is_forced(
    chosen: str, has_card: bool, wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backends, "has_card", lambda: has_card)
    assert find_wanted(chosen) == wanted


def test_a_clone_that_has_support_compiles_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backends, "has_card", lambda: True)
    (tmp_path / "backends").mkdir()
    (tmp_path / "backends" / "libggml-cuda.so").touch()
    assert find_wanted("auto") == ""
