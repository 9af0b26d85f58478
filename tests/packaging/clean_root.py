"""A freshly installed Debian in a folder, thrown away afterwards."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 1200
BINDS = ("proc", "dev", "tmp")
ROOT_TOOLS = {"debootstrap": "debootstrap", "mount": "mount", "chroot": "coreutils"}
"""Programs and the Debian packages they are in."""


def find_obstacles(tools: Mapping[str, str], made: str, *, as_root: bool = False) -> list[str]:
    """Why a package cannot be tried here and what to do, in sentences; `made` is looked for."""
    lacking = sorted(name for name in tools if shutil.which(name) is None)
    packages = " ".join(sorted({tools[name] for name in lacking}))
    found = []
    if lacking:
        found.append(f"Missing: {', '.join(lacking)}. Get it: apt-get install {packages}")
    if as_root and os.geteuid() != 0:
        found.append("This needs the rights of root: run it with sudo.")
    if not any(ROOT.glob(made)):
        found.append(f"There is no {made}. Make it: make package")
    return found


class CleanRoot:
    """A layer above the bare system, so that the bare one can be used again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(
        self, *command: str, environment: dict[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            self.command(*command),
            env={**seen(), **(environment or {})},
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )

    def command(self, *command: str) -> list[str]:
        return ["chroot", str(self.folder), *command]

    def apt(self, *arguments: str) -> str:
        done = self.run("apt-get", "--yes", "--quiet", "--no-install-recommends", *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def packages(self) -> list[str]:
        return self.run("dpkg-query", "-W", "-f", "${Package}\n").stdout.split()

    def files(self) -> set[str]:
        """All but what packages of the system write as they come and go."""
        found = self.run(
            "find", "/", "-xdev", *_without("/proc", "/dev", "/tmp", "/sys", "/run"), "-print"
        )
        return set(found.stdout.splitlines())


@contextmanager
def clean_root(suite: str, kept: Path) -> Iterator[CleanRoot]:
    bare = bootstrapped(suite, kept)
    layers = kept / f"{suite}-layers"
    shutil.rmtree(layers, ignore_errors=True)
    upper, work, merged = (layers / name for name in ("upper", "work", "merged"))
    for folder in (upper, work, merged):
        folder.mkdir(parents=True)
    with ExitStack() as open_mounts:
        options = f"lowerdir={bare},upperdir={upper},workdir={work}"
        _mount(open_mounts, ["-t", "overlay", "overlay", "-o", options], merged)
        for name in BINDS:
            _mount(open_mounts, ["--bind", f"/{name}"], merged / name)
        shutil.copy("/etc/resolv.conf", merged / "etc" / "resolv.conf")
        yield CleanRoot(merged)
    shutil.rmtree(layers)


def bootstrapped(suite: str, kept: Path) -> Path:
    """The bare system; made once. MOAT_MIRROR names a mirror other than debootstrap's own."""
    folder = kept / suite
    if not (folder / "usr" / "bin" / "apt-get").exists():
        kept.mkdir(parents=True, exist_ok=True)
        mirror = os.environ.get("MOAT_MIRROR")
        command = ["debootstrap", "--variant=minbase", suite, str(folder)]
        subprocess.run([*command, *([mirror] if mirror else [])], check=True)
    return folder


def seen() -> dict[str, str]:
    """What a person's session has, and nothing of the environment of the tests."""
    return {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/root",
        "LANG": "C.UTF-8",
        "DEBIAN_FRONTEND": "noninteractive",
    }


def _without(*folders: str) -> Sequence[str]:
    parts: list[str] = []
    for folder in folders:
        parts += ["-path", folder, "-prune", "-o"]
    return parts


def _mount(open_mounts: ExitStack, what: list[str], target: Path) -> None:
    subprocess.run(["mount", *what, str(target)], check=True)
    open_mounts.callback(lambda: subprocess.run(["umount", "-l", str(target)], check=True))
