"""Requirements of the operating system: libraries for Qt, a compiler, tools for the tests."""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from scripts.bootstrap.say import say

QT_LIBRARIES = {
    "libGL.so.1": "libgl1",
    "libEGL.so.1": "libegl1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libfontconfig.so.1": "libfontconfig1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgssapi_krb5.so.2": "libgssapi-krb5-2",
    "libwayland-cursor.so.0": "libwayland-cursor0",
    "libwayland-egl.so.1": "libwayland-egl1",
}
FONTS = Path("/usr/share/fonts")
TEST_TOOLS = {
    "bwrap": "bubblewrap",
    "Xvfb": "xvfb",
    "xauth": "xauth",
    "xdotool": "xdotool",
    "xprop": "x11-utils",
    "wmctrl": "wmctrl",
    "openbox": "openbox",
    "trayer": "trayer",
    "xfce4-panel": "xfce4-panel",
    "scrot": "scrot",
    "dunst": "dunst",
    "dbus-run-session": "dbus-daemon",
    "dbus-launch": "dbus-x11",
    "convert": "imagemagick",
    "notify-send": "libnotify-bin",
    "gnome-keyring-daemon": "gnome-keyring",
    "secret-tool": "libsecret-tools",
    "chromium": "chromium",
    "node": "nodejs",
    "npm": "npm",
    "strace": "strace",
    "makensis": "nsis",
    "7z": "p7zip-full",
    "osslsigncode": "osslsigncode",
}

PACKAGE_TOOLS = {"dpkg-deb": "dpkg", "objdump": "binutils"}


def missing_for_window() -> list[str]:
    if sys.platform != "linux":
        return []
    known = _libraries()
    packages = [package for name, package in QT_LIBRARIES.items() if name not in known]
    if not any(FONTS.rglob("*.[to]tf")):
        packages.append("fonts-dejavu-core")
    return packages


def missing_for_tests() -> list[str]:
    if sys.platform != "linux":
        return []
    return [package for tool, package in TEST_TOOLS.items() if not shutil.which(tool)]


def missing_for_package() -> list[str]:
    if sys.platform != "linux":
        return []
    return [package for tool, package in PACKAGE_TOOLS.items() if not shutil.which(tool)]


def missing_for_build() -> list[str]:
    if sys.platform != "linux":
        return []
    packages = []
    if not any(shutil.which(name) for name in ("c++", "g++", "clang++")):
        packages.append("build-essential")
    if importlib.util.find_spec("ensurepip") is None:
        packages.append(f"python3.{sys.version_info.minor}-venv")
    return packages


def _libraries() -> set[str]:
    """Returns the names in the linker's cache, such as libGL.so.1."""
    ldconfig = shutil.which("ldconfig") or "/sbin/ldconfig"
    listing = subprocess.run([ldconfig, "-p"], capture_output=True, text=True, check=False).stdout
    return {line.split()[0] for line in listing.splitlines()[1:] if line.strip()}


def provide(packages: Iterable[str], purpose: str) -> bool:
    """Installs packages with apt if it may. Otherwise it shows the command and continues."""
    wanted = sorted(packages)
    if not wanted:
        return True
    command = ["apt-get", "install", "--yes", "--no-install-recommends", *wanted]
    if sys.platform == "win32" or not shutil.which("apt-get"):
        say(f"{purpose}: these seem to be missing (Debian's names): {' '.join(wanted)}")
        return False
    if os.geteuid() != 0:
        say(f"{purpose}: please run once: sudo {' '.join(command)}")
        return False
    say(f"{purpose}: installing {' '.join(wanted)}")
    return _apt(["apt-get", "update"]) and _apt(command)


def _apt(command: list[str]) -> bool:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode:
        say(f"This failed: {' '.join(command)}\n{done.stderr.strip()}")
    return done.returncode == 0
