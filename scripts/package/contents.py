"""Lists what goes into the frozen program and what does not. The PyInstaller spec reads it."""

import importlib.util
import sys
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path

from scripts.bootstrap.places import ROOT
from scripts.bootstrap.surplus import SURPLUS
from server import cli
from server.models import library
from server.system import lazy, licenses

ENTRY = ROOT / "app" / "__main__.py"
PACKAGES = ("app", "server")
ENGINE = "llama_cpp/lib"
ENGINE_IN_WORK = "llama_cpp/engine"
"""The folder of the shipped engine until the build environment's own engine is removed."""
ENGINE_MODULES = ("llama_cpp.llama_cpp", "llama_cpp.mtmd_cpp", "llguidance.llamacpp")
DATA = (("resources", "resources"), ("plugins", "plugins"))
LEFT_OUT_MODULES = (
    "tkinter", "_tkinter", "turtle", "turtledemo", "idlelib", "test", "lib2to3", "ensurepip",
    "nis", "pip", "setuptools", "distutils", "pkg_resources", "wheel", "venv", "pytest", "_pytest",
    "mypy", "hypothesis", "uvloop", "IPython", "matplotlib", "pandas", "scipy",
    "xllamacpp", "openai", "anthropic", "langchain_core",
    "rich", "markdown_it", "mdurl", "requests", "urllib3", "httpx", "hf_xet",
    "certifi", "charset_normalizer",
    "llama_cpp.server", "llama_cpp.llama", *SURPLUS,
    "numpy.f2py", "numpy.testing", "numpy.distutils",
    "PySide6.QtQml", "PySide6.QtQuick", "PySide6.QtPdf", "PySide6.QtSql", "PySide6.QtTest",
    "PySide6.QtOpenGL", "PySide6.QtPrintSupport", "PySide6.QtDesigner", "PySide6.QtHelp",
)  # fmt: skip
LEFT_OUT_FILES = (
    "*/plugins/platformthemes/libqgtk3.so",
    "*/plugins/platforms/libqeglfs.so",
    "*/plugins/platforms/libqvnc.so",
    "*/plugins/platforms/libqlinuxfb.so",
    "*/plugins/platforms/libqminimal*.so",
    "*/plugins/platforms/libqvkkhrdisplay.so",
    "*/plugins/egldeviceintegrations/*",
    "*/plugins/imageformats/libqtiff.so",
    "*/plugins/imageformats/libqwebp.so",
    "*/plugins/imageformats/libqpdf.so",
    "*/plugins/platforminputcontexts/libqtvirtualkeyboardplugin.so",
    "*/plugins/qmltooling/*",
    "*/plugins/generic/*",
    "*/plugins/networkinformation/*",
    "*libQt6Qml*", "*libQt6Quick*", "*libQt6Pdf*", "*libQt6VirtualKeyboard*",
    "*libQt6EglFS*", "*libQt6EglFsKms*",
    "libgtk-3*", "libgdk*", "libatk*", "libcairo*", "libpango*", "libharfbuzz*", "libthai*",
    "libdatrie*", "libfribidi*", "libepoxy*", "libmount*", "libblkid*", "libselinux*",
    # The system's own are used: the graphics card's driver may need newer ones.
    "libstdc++.so*", "libgcc_s.so*", "libvulkan.so*",
    "llama_cpp/lib/*", "libllama*", "libggml*", "libmtmd*",
    "*-info/RECORD", "*-info/REQUESTED", "*-info/INSTALLER", "*-info/direct_url.json",
    "*-info/SOURCES.txt",
)  # fmt: skip
Entry = tuple[str, str, str]
"""PyInstaller's entry: the path in the folder, the file or a link's target, and the kind."""
KEPT_TRANSLATIONS = ("qtbase_de.qm", "qtbase_zh_CN.qm")
STRIPPED = ("libpython3*", "python3.*/lib-dynload/*")
"""Files that are stripped. They are Python's own: stripping breaks the libraries of some wheels."""


def hidden_modules() -> list[str]:
    """Returns modules that no import statement shows."""
    commands = (f"server.commands.{name}" for name in cli.COMMANDS)
    return [*lazy.MODULES, *commands, *ENGINE_MODULES, *standard_library()]


def standard_library() -> list[str]:
    """Returns the whole standard library: a plugin's code may import modules that Moat does not."""
    found = sys.stdlib_module_names - set(LEFT_OUT_MODULES) - {"antigravity", "this"}
    here = (name for name in sorted(found) if not name.startswith("_"))
    return [name for name in here if importlib.util.find_spec(name)]


def described_packages() -> list[str]:
    """Returns packages whose metadata must be included: some read their version when they start."""
    return [one.name for one in licenses.packages()]


def data_files() -> list[tuple[str, str]]:
    """Returns pairs of a path in the clone and its target folder."""
    pairs = [(str(ROOT / source), target) for source, target in DATA]
    beside = (path for name in PACKAGES for path in (ROOT / name).rglob("*") if _is_data(path))
    pairs += [(str(path), path.parent.relative_to(ROOT).as_posix()) for path in sorted(beside)]
    model = library.find_starter()
    assert model, "The starter model is not installed; run make setup."
    return [*pairs, (str(model), "resources/models")]


def _is_data(path: Path) -> bool:
    return path.is_file() and path.suffix != ".py" and "__pycache__" not in path.parts


def is_wanted(target: str) -> bool:
    """Whether a file of the frozen folder is kept, by its path in that folder."""
    path = target.replace("\\", "/")
    if "/translations/" in path and path.endswith(".qm"):
        return path.endswith(KEPT_TRANSLATIONS)
    if "__pycache__" in path:
        return False
    return not any(fnmatch(path, pattern) for pattern in LEFT_OUT_FILES)


def shipped(binaries: Iterable[Entry], system: str = sys.platform) -> list[Entry]:
    """Returns PyInstaller's files without unwanted ones, with the shipped engine in its place."""
    kept = [
        (target.replace(ENGINE_IN_WORK, ENGINE), source, kind)
        for target, source, kind in binaries
        if is_wanted(target)
    ]
    if system != "darwin":
        return kept
    # On macOS, PyInstaller makes each library look for the others in the top folder.
    engine = [target for target, _, _ in kept if target.startswith(f"{ENGINE}/")]
    return [*kept, *((Path(target).name, target, "SYMLINK") for target in engine)]


def is_stripped(target: str) -> bool:
    return any(fnmatch(target, pattern) for pattern in STRIPPED)
