"""python -m tests.packaging.try_deb [SUITE …]: the .deb in clean Debian systems, as root.

Installs it with its dependencies, starts it on a desktop with a tray, has a real chat, removes it
while it runs, and looks at what is left. Prints what it measured.
"""

import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from scripts.bootstrap.system import TEST_TOOLS
from tests.display.desktop import PROGRAMS, Desktop, wait_for
from tests.kit.programs import read_arguments
from tests.packaging.clean_root import (
    ROOT_TOOLS,
    CleanRoot,
    clean_root,
    find_obstacles,
    seen,
)

ROOT = Path(__file__).resolve().parents[2]
KEPT = Path(os.environ.get("MOAT_ROOTS") or ROOT / "build" / "package" / "roots")
HOME = Path("root", ".local", "share", "moat")
SETTINGS = Path("root", ".config", "moat", "settings.json")
PROGRAM = Path("usr", "lib", "moat")
OURS = re.compile(r"moat", re.IGNORECASE)
NOT_OURS = re.compile(r"^/(var/(cache|lib|log)|root)/")
LOAD_S = 180.0
SAID = KEPT / "moat.log"
"""What the program wrote to its standard error."""


def main() -> int:
    desktop = {name: TEST_TOOLS.get(name, name) for name in PROGRAMS}
    if obstacles := find_obstacles(ROOT_TOOLS | desktop, "dist/moat_*.deb", as_root=True):
        sys.stderr.write("\n".join(obstacles) + "\n")
        return 2
    package = newest_package()
    suites = read_arguments(__doc__, takes_names=True) or ["bookworm", "trixie"]
    tell("package", f"{package.name}, {package.stat().st_size / 1e6:.1f} MB")
    for suite in suites:
        with clean_root(suite, KEPT) as root:
            try_out(root, package, suite)
    return 0


def newest_package() -> Path:
    found = sorted((ROOT / "dist").glob("moat_*.deb"), key=lambda path: path.stat().st_mtime)
    assert found, "There is no package; run make package."
    return found[-1]


def try_out(root: CleanRoot, package: Path, suite: str) -> None:
    before = root.files()
    port = settle_port(root)
    install(root, package, suite)
    look_at_commands(root, suite)
    with tempfile.TemporaryDirectory() as folder, Desktop(Path(folder)) as desktop:
        for state in ("cold", "warm"):
            if state == "cold":
                forget_pages(root.folder / PROGRAM)
            start_and_end(root, desktop, f"{suite}, {state} start", port)
        remove_while_running(root, desktop, suite, port)
    left = {path for path in root.files() - before if OURS.search(path)}
    left = {path for path in left if not NOT_OURS.search(path)}
    assert not left, f"Left behind: {sorted(left)[:10]}"
    tell(f"{suite}, removed", "nothing of the package is left; models and settings are kept")


def install(root: CleanRoot, package: Path, suite: str) -> None:
    shutil.copy(package, root.folder / "root" / "moat.deb")
    root.apt("update")
    began, known = time.monotonic(), len(root.packages())
    root.apt("install", "/root/moat.deb")
    more = len(root.packages()) - known
    tell(f"{suite}, installed", f"{more} packages in {time.monotonic() - began:.0f} s")


def look_at_commands(root: CleanRoot, suite: str) -> None:
    version = root.run("moat", "--version")
    assert version.returncode == 0, version.stderr
    doctor = root.run("moat", "doctor").stdout
    lines = doctor.partition(" Engine ")[2].split("Starter model")[0]
    tell(f"{suite}, engine", " ".join(lines.split()))
    licences = root.run("moat", "licenses").stdout
    assert "llama.cpp" in licences
    assert "Qt" in licences


def settle_port(root: CleanRoot) -> int:
    """Another Moat may be running on this machine."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    path = root.folder / SETTINGS
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"server": {"port": port}}), encoding="utf-8")
    return port


def start_and_end(root: CleanRoot, desktop: Desktop, title: str, port: int) -> None:
    began = time.monotonic()
    process = start(root, desktop)
    wait_for("the icon", desktop.tray_item, LOAD_S)
    tray = time.monotonic() - began
    wait_for("the server", lambda: is_listening(port), LOAD_S)
    listening = time.monotonic() - began
    said = chat("Say hello.", port)
    answered = time.monotonic() - began
    tell(title, f"icon {tray:.2f} s, listening {listening:.2f} s, first answer {answered:.2f} s")
    tell(title, f"answer: {said[:60]!r}")
    process.terminate()
    process.wait(10)


def remove_while_running(root: CleanRoot, desktop: Desktop, suite: str, port: int) -> None:
    process = start(root, desktop)
    wait_for("the server", lambda: is_listening(port), LOAD_S)
    kept = root.folder / HOME / "models" / "mine.gguf"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(b"GGUF")
    told = root.apt("purge", "moat")
    assert "are kept in" in told, told
    process.wait(10)
    assert not is_listening(port)
    assert kept.exists()
    assert (root.folder / SETTINGS).exists()
    root.apt("autoremove", "--purge")
    (root.folder / "root" / "moat.deb").unlink()
    tell(f"{suite}, removal", "the running Moat was ended first")


def start(root: CleanRoot, desktop: Desktop) -> "subprocess.Popen[bytes]":
    wanted = ("DISPLAY", "DBUS_SESSION_BUS_ADDRESS")
    environment = seen() | {name: desktop.environment[name] for name in wanted}
    environment["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
    with SAID.open("ab") as said:
        return desktop.start(*root.command("moat"), env=environment, stderr=said)


def is_listening(port: int) -> bool:
    try:
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
    except OSError:
        return False


def chat(question: str, port: int) -> str:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=LOAD_S)) as connection:
        body = {"messages": [{"role": "user", "content": question}], "max_tokens": 24}
        headers = {"Content-Type": "application/json"}
        connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
        reply = connection.getresponse()
        told = json.loads(reply.read())
        assert reply.status == 200, told
    said: str = told["choices"][0]["message"]["content"]
    assert said.strip()
    return said


def forget_pages(folder: Path) -> None:
    """The system has not read these files lately: as after a start of the machine."""
    os.sync()
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            descriptor = os.open(path, os.O_RDONLY)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


def tell(what: str, text: str) -> None:
    sys.stdout.write(f"{what}: {text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    read_arguments(__doc__, takes_names=True)
    sys.exit(main())
