"""Takes pictures of every page in every state, light and dark: `make screenshots`.

It fails if a scene shows a server's sentence that no server sends: such a sentence has no
translation.
"""

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QSettings
from PySide6.QtGui import QColor, QPainter, QPixmap
from PySide6.QtWidgets import QApplication

from app.desktop.loop import Loop
from app.look import icons, theme, translate
from app.look.summary import LOOKS
from app.shell.tray import Tray
from app.shell.window import Window
from scripts.scenes import SCENES
from scripts.scenes.base import Scene
from tests.kit.fake_core import FakeCore

MEMORY = "window.ini"
OUT = Path("build/screenshots")
SETTLE_S = 0.25
LARGE, SMALL = theme.WINDOW_SIZE, (800, 600)
SHARP = 1.5
"""A scale between two whole ones: there, a line that is too thin or a cut letter shows."""
FROM_PLUGINS = {"Folders with statements", "Address of its API"}
"""Texts of the plugins in the scenes. They are not translated."""


@dataclass(frozen=True, slots=True)
class Shot:
    """The look, size and language of a set of pictures. `label` ends their names."""

    look: str
    label: str = ""
    size: tuple[int, int] = LARGE
    language: str = "en"


def shots(sizes: dict[str, tuple[int, int]], sharp: str = "") -> tuple[Shot, ...]:
    """Returns shots of every look and language in these sizes. Their keys are in the names."""
    languages = {"": "en", "-zh": "zh", "-de": "de"}
    return tuple(
        Shot(look, f"{small}{spoken}{sharp}", size, language)
        for look, (small, size), (spoken, language) in product(
            ("light", "dark"), sizes.items(), languages.items()
        )
    )


SHOTS = shots({"": LARGE, "-small": SMALL})
SHARP_SHOTS = shots({"-small": SMALL}, "-sharp")


class Unknown(dict[str, str]):
    """Translations that collect the server's sentences that they lack."""

    sentences: ClassVar[set[str]] = set()

    @classmethod
    def listen(cls) -> None:
        known = translate.of_the_server
        translate.of_the_server = lambda spoken: cls(known(spoken))  # type: ignore[assignment]

    def get(self, text: str, default: Any = None) -> Any:
        is_sentence = " " in text and text.isascii() and text not in FROM_PLUGINS
        if is_sentence and text not in self:
            self.sentences.add(text)
        return super().get(text, default)


async def take(app: QApplication, out: Path, wanted: str, taken: tuple[Shot, ...]) -> None:
    for shot in taken:
        if translate.lacks_font(shot.language):
            sys.stdout.write(f"No font here for {shot.language}: no {shot.label} pictures.\n")
            continue
        theme.apply(app, shot.look)
        translator = translate.install(shot.language)
        for name, scene in SCENES.items():
            if wanted in name:
                await _take_scene(out / f"{name}-{shot.look}{shot.label}.png", scene, shot.size)
        await _take_menu(out / f"tray-menu-{shot.look}{shot.label}.png")
        if translator:
            app.removeTranslator(translator)


async def _take_scene(path: Path, scene: Scene, size: tuple[int, int]) -> None:
    core = FakeCore.ready()
    memory = QSettings(str(path.parent / MEMORY), QSettings.Format.IniFormat)
    window = Window(core, memory)
    window.resize(*size)
    window.show()
    if title := await scene(core, window):
        window.turn_to(title)
    await asyncio.sleep(SETTLE_S)
    window.grab().save(str(path))
    window.hide()
    window.deleteLater()


async def _take_menu(path: Path) -> None:
    tray = Tray(FakeCore.ready())
    tray.menu.popup(tray.menu.pos())
    await asyncio.sleep(SETTLE_S)
    tray.menu.grab().save(str(path))
    tray.menu.close()
    tray.close()


def _take_icons(path: Path) -> None:
    sides = (16, 22, 32, 64)
    sheet = QPixmap(80 * len(LOOKS), 2 * 170)
    painter = QPainter(sheet)
    for half, ground in enumerate((theme.LIGHT.sidebar, theme.DARK.sidebar)):
        painter.fillRect(0, half * 170, sheet.width(), 170, QColor(ground))
        for column, look in enumerate(LOOKS):
            top = half * 170 + 8
            for side in sides:
                painter.drawPixmap(column * 80 + 8, top, icons.tray_icon(look).pixmap(side))
                top += side + 8
    painter.end()
    sheet.save(str(path))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--sharp", action="store_true", help=f"at {SHARP} times the pixels")
    parser.add_argument("--only", default="", help="only scenes with this in their name")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.sharp:
        os.environ["QT_SCALE_FACTOR"] = str(SHARP)
    # Saved chats in the pictures must not be the person's own.
    os.environ["MOAT_HOME"] = tempfile.mkdtemp(prefix="moat-pictures-")
    app = QApplication([])
    theme.prepare(app)
    Unknown.listen()
    with asyncio.Runner(loop_factory=lambda: Loop(app)) as runner:
        wanted = SHARP_SHOTS if options.sharp else SHOTS
        runner.run(take(app, options.out, options.only, wanted))
    if not options.sharp:
        _take_icons(options.out / "tray-icons.png")
        # The scale is fixed when Qt starts, so sharp pictures need a separate process.
        again = [sys.executable, "-m", "scripts.screenshots", "--sharp"]
        subprocess.run([*again, "--out", options.out, "--only", options.only], check=True)
    (options.out / MEMORY).unlink(missing_ok=True)
    shutil.rmtree(os.environ["MOAT_HOME"], ignore_errors=True)
    sys.stdout.write(f"{len(list(options.out.glob('*.png')))} pictures in {options.out}\n")
    for sentence in sorted(Unknown.sentences):
        sys.stdout.write(f"No server says this, but a scene shows it: {sentence}\n")
    return 1 if Unknown.sentences else 0


if __name__ == "__main__":
    sys.exit(main())
