"""python -m tests.packaging.try_vulkan [SUITE …]: Vulkan in the .deb, in clean Debian systems.

Runs as root. Without Vulkan Moat starts as before. With Mesa's lavapipe, a driver that computes on
the processor, it lists the device, loads the starter on it and answers. With a driver that crashes
and with one that hangs it says so, computes on the processor, and does not try that driver again.
"""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.kit.programs import read_arguments
from tests.packaging.clean_root import ROOT_TOOLS, CleanRoot, clean_root, find_obstacles
from tests.packaging.try_deb import KEPT, install, newest_package, settle_port, tell

SOURCE = Path(__file__).with_name("fake_driver.c")
FORCED = {"GGML_VK_VISIBLE_DEVICES": "0"}
"""Lets Moat use a device that is not a card."""
CALLS = "/root/calls"


def main() -> int:
    if obstacles := find_obstacles(ROOT_TOOLS | {"gcc": "gcc"}, "dist/moat_*.deb", as_root=True):
        sys.stderr.write("\n".join(obstacles) + "\n")
        return 2
    for suite in read_arguments(__doc__, takes_names=True) or ["bookworm", "trixie"]:
        with clean_root(suite, KEPT) as root:
            try_out(root, suite)
    return 0


def try_out(root: CleanRoot, suite: str) -> None:
    settle_port(root)
    install(root, newest_package(), suite)
    assert not look(root, {})["devices"]
    tell(f"{suite}, without Vulkan", ask(root, {}))
    root.apt("install", "mesa-vulkan-drivers")
    assert not look(root, {})["devices"], "lavapipe is not a card"
    began = time.monotonic()
    (device,) = look(root, FORCED)["devices"]
    tell(f"{suite}, lavapipe", f"{device['name']}, tried in {time.monotonic() - began:.0f} s")
    tell(f"{suite}, lavapipe", ask(root, FORCED))
    for name, hangs in (("crashing", 0), ("hanging", 1)):
        fail(root, f"{suite}, {name} driver", add_driver(root, name, hangs))


def fail(root: CleanRoot, title: str, chosen: dict[str, str]) -> None:
    found = look(root, chosen)
    assert not found["devices"]
    assert found["note"], "nothing is said about it"
    tell(title, found["note"])
    calls = root.folder / CALLS[1:]
    asked = calls.read_text()
    tell(title, ask(root, chosen))
    assert calls.read_text() == asked, "it was tried again"
    calls.unlink()


def add_driver(root: CleanRoot, name: str, hangs: int) -> dict[str, str]:
    folder = root.folder / "root"
    defined = (f"-DHANGS={hangs}", f'-DCALLS="{CALLS}"')
    command = ("gcc", "-shared", "-fPIC", *defined, str(SOURCE), "-o", str(folder / f"{name}.so"))
    subprocess.run(command, check=True)
    entry = {"library_path": f"/root/{name}.so", "api_version": "1.3.0"}
    described = {"file_format_version": "1.0.0", "ICD": entry}
    (folder / f"{name}.json").write_text(json.dumps(described))
    return FORCED | dict.fromkeys(("VK_DRIVER_FILES", "VK_ICD_FILENAMES"), f"/root/{name}.json")


def look(root: CleanRoot, variables: dict[str, str]) -> Any:
    return json.loads(run(root, variables, "graphics", "--json"))


def ask(root: CleanRoot, variables: dict[str, str]) -> str:
    answer = json.loads(run(root, variables, "chat", "--json", "Say hello."))["answer"]
    assert answer.strip()
    return f"answer: {answer[:60]!r}"


def run(root: CleanRoot, variables: dict[str, str], *arguments: str) -> str:
    done = root.run("moat", *arguments, environment=variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


if __name__ == "__main__":
    read_arguments(__doc__, takes_names=True)
    sys.exit(main())
