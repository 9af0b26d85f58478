"""python -m tests.packaging.try_container [ARCHIVE]: the container of packaging/team, as root.

No engine for images is needed: its steps are done in a bare Debian, which bubblewrap then runs as
an ordinary user, with a read-only root and a home as the only place to write to. Prints what it
measured, and fails if it serves too late. The time for which the program could have run but other
programs had the processors, which the kernel counts, is left out.
"""

import http.client
import json
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.bench.servers import free_port
from tests.kit.programs import read_arguments
from tests.kit.running import until
from tests.packaging.clean_root import ROOT, ROOT_TOOLS, CleanRoot, clean_root, find_obstacles
from tests.packaging.try_deb import KEPT, tell

FILE = ROOT / "packaging" / "team" / "Containerfile"
TOOLS = ROOT_TOOLS | {"bwrap": "bubblewrap", "setpriv": "util-linux"}
SUITE = "bookworm"
STARTS_S, PATIENCE_S = 5.0, 180.0


@dataclass(slots=True)
class Image:
    """What the Containerfile says of how it is run."""

    user: str = "0"
    variables: dict[str, str] = field(default_factory=dict)
    volume: str = ""
    health: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)


def main() -> int:
    archives = read_arguments(__doc__, takes_names=True) or [
        str(path) for path in (ROOT / "dist").glob("moat-*-linux-*.tar.xz")
    ]
    obstacles = find_obstacles(TOOLS, "packaging/team/Containerfile", as_root=True)
    if not archives:
        obstacles.append("There is no archive in dist. Make it: make package")
    if obstacles:
        sys.stderr.write("\n".join(obstacles) + "\n")
        return 2
    with clean_root(SUITE, KEPT) as root, tempfile.TemporaryDirectory() as home:
        image = build(root, Path(archives[-1]))
        states = ("first start", "second start")
        took_s = [try_out(root, image, Path(home), state) for state in states]
    return int(max(took_s) > STARTS_S)


def build(root: CleanRoot, archive: Path) -> Image:
    """Does the few steps that such a file has here."""
    image = Image()
    lines = FILE.read_text("utf-8").splitlines()
    for line in lines:
        word, _, rest = line.partition(" ")
        match word:
            case "ADD":
                folder = root.folder / rest.split()[-1].lstrip("/")
                subprocess.run(["tar", "-xf", str(archive), "-C", str(folder)], check=True)
            case "RUN":
                done = root.run("sh", "-ec", rest)
                assert done.returncode == 0, done.stderr
            case "ENV":
                image.variables |= dict(part.split("=", 1) for part in shlex.split(rest))
            case "USER":
                image.user = rest
            case "VOLUME":
                image.volume = rest
            case "HEALTHCHECK":
                image.health = json.loads(rest.partition("CMD ")[2])
            case "ENTRYPOINT" | "CMD":
                image.command += json.loads(rest)
    return image


def try_out(root: CleanRoot, image: Image, home: Path, state: str) -> float:
    """Returns the seconds until it served, without those for which others had the processors."""
    shutil.chown(home, int(image.user), int(image.user))
    began = time.monotonic()
    port = free_port()
    with running(root, image, home, port) as outer:
        process = outer.children()[0]
        wait_for(process, port, "/health")
        served_s, held_up_s = time.monotonic() - began, waited_s(process)
        used = f"{used_s(process):.1f} s of processor time, waited {held_up_s:.1f} s for others"
        tell(state, f"serves after {served_s:.1f} s ({used})")
        wait_for(process, port, "/ready")
        tell(state, f"a model answers after {time.monotonic() - began:.1f} s")
        check_rights(process, image)
        check_health(root, image, home, port)
        process.send_signal(signal.SIGTERM)
        code = outer.wait(PATIENCE_S)
        assert code == 0, f"it ended with {code}"
        tell(state, "SIGTERM ended it; its exit code is 0")
    if served_s - held_up_s > STARTS_S:
        tell(state, f"that is more than {STARTS_S:.0f} s")
    return served_s - held_up_s


@contextmanager
def running(root: CleanRoot, image: Image, home: Path, port: int) -> Iterator[psutil.Popen]:
    """The wall; behind it the program is the first process of its own world, as in a container."""
    ports = {"MOAT_SERVER__PORT": str(port), "MOAT_SERVER__HTTPS_PORT": str(free_port())}
    command = [*wall(root, image, home, ports), "--as-pid-1", "--", *image.command]
    with (KEPT / "container.log").open("ab") as log:
        outer = psutil.Popen(command, stdout=log, stderr=log)
        try:
            until(lambda: any(outer.children()), PATIENCE_S)
            yield outer
        finally:
            for process in (*_family(outer), outer):
                with suppress(psutil.Error):
                    process.kill()
            outer.wait()


def _family(process: psutil.Process) -> list[psutil.Process]:
    with suppress(psutil.Error):
        found: list[psutil.Process] = process.children(recursive=True)
        return found
    return []


def wall(root: CleanRoot, image: Image, home: Path, more: dict[str, str]) -> list[str]:
    given = {"PATH": "/usr/bin:/bin", **image.variables, **more}
    variables = [part for name, value in given.items() for part in ("--setenv", name, value)]
    return [
        *("setpriv", "--reuid", image.user, "--regid", image.user, "--clear-groups"),
        *("bwrap", "--unshare-user", "--uid", image.user, "--gid", image.user, "--unshare-pid"),
        *("--unshare-ipc", "--unshare-uts", "--cap-drop", "ALL"),
        *("--ro-bind", str(root.folder), "/"),
        *("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--bind", str(home), image.volume),
        *("--clearenv", *variables, "--chdir", "/"),
    ]


def wait_for(process: psutil.Process, port: int, path: str) -> None:
    until(lambda: not process.is_running() or ask(port, path) == 200, PATIENCE_S)
    assert process.is_running(), f"It ended; {KEPT / 'container.log'} says why."


def ask(port: int, path: str) -> int:
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    with closing(link), suppress(OSError, http.client.HTTPException):
        link.request("GET", path)
        return link.getresponse().status
    return 0


def used_s(process: psutil.Process) -> float:
    spent = [part.cpu_times() for part in (process, *_family(process))]
    return float(sum(part.user + part.system for part in spent))


def waited_s(process: psutil.Process) -> float:
    """Returns how long its main thread could have run but had no processor."""
    _ran, waited, _times = Path(f"/proc/{process.pid}/schedstat").read_text("utf-8").split()
    return int(waited) / 1e9


def check_rights(process: psutil.Process, image: Image) -> None:
    """By what the kernel says of the process: its user, its root, its rights."""
    fields = Path(f"/proc/{process.pid}/status").read_text("utf-8")
    rights = next(line.split()[1] for line in fields.splitlines() if line.startswith("CapEff"))
    assert int(rights, 16) == 0, rights
    mounts = Path(f"/proc/{process.pid}/mounts").read_text("utf-8").splitlines()
    writable = {line.split()[1] for line in mounts if "rw" in line.split()[3].split(",")}
    places = {place for place in writable if not place.startswith(("/proc", "/dev", "/sys"))}
    assert places == {image.volume, "/tmp"}, places
    tell("rights", f"user {image.user}, no capabilities, writable: {', '.join(sorted(places))}")


def check_health(root: CleanRoot, image: Image, home: Path, port: int) -> None:
    command = [part.replace("7777", str(port)) for part in image.health]
    for expected, asked in (
        (0, command),
        (1, [part.replace("/health", "/no") for part in command]),
    ):
        done = subprocess.run(
            [*wall(root, image, home, {}), "--", *asked], capture_output=True, check=False
        )
        assert done.returncode == expected, done.stderr
    tell("health check", "passes, and fails for another page")


if __name__ == "__main__":
    read_arguments(__doc__, takes_names=True)
    sys.exit(main())
