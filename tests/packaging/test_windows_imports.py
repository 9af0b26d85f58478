"""Every module of the program can be imported where Unix's own modules and calls are missing."""

import subprocess
import sys

from scripts.bootstrap.places import ROOT
from scripts.package.windows.check import POSIX_ONLY

PROGRAM = """
import importlib, os, pkgutil, signal, socket, sys

def names():
    import app, server
    for package in (server, app):
        for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            if not found.name.endswith("__main__"):
                yield found.name

every = list(names())
for name in every:  # brings in what others wrote, which is not judged here
    importlib.import_module(name)
for name in [n for n in sys.modules if n.partition(".")[0] in ("app", "server")]:
    del sys.modules[name]

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name in HIDDEN:
            raise ModuleNotFoundError(f"Windows has no {name}", name=name)

sys.meta_path.insert(0, Hidden())
for name in HIDDEN:
    sys.modules.pop(name, None)
for module, attributes in ABSENT.items():
    for attribute in attributes.split():
        if hasattr(module, attribute):
            delattr(module, attribute)
failed = 0
for name in every:
    try:
        importlib.import_module(name)
    except (ImportError, AttributeError) as error:
        failed = 1
        print(f"{name}: {error}")
print(len(every), "modules")
sys.exit(failed)
"""
ABSENT = (
    "{os: 'fork getuid geteuid getgid getpgid killpg setsid sysconf uname sched_getaffinity wait3',"
    " signal: 'SIGHUP SIGKILL SIGUSR1 SIGUSR2 SIGCHLD SIGALRM alarm setitimer pthread_sigmask',"
    " socket: 'AF_UNIX socketpair_unix'}"
)


def test_every_module_is_imported_without_unix() -> None:
    code = f"HIDDEN = {sorted(POSIX_ONLY)!r}\n" + PROGRAM.replace(
        "ABSENT.items()", f"{ABSENT}.items()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={"QT_QPA_PLATFORM": "offscreen", "PATH": "", "HOME": "/nowhere"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.split()[-2]) > 200
