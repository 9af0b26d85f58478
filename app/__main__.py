"""The program's entry point. Chooses the role of this process before anything heavy is imported."""

import gc
import importlib.util
import os
import socket
import sys
from collections.abc import Mapping, Sequence

NO_DISPLAY = "There is no display here, so Moat serves without a window."
NO_QT = "The window's libraries are not installed, so Moat serves without a window."
INTERRUPTED = 130
_WINDOW_OPTIONS = frozenset({"--hidden"})
_CHILDREN = {
    "worker": "server.engine.worker",
    "render": "server.engine.worker.prompt.render",
    "tools": "server.plugins.python.child",
    "inside": "server.plugins.walls.inside",
    "sheets": "server.data.old_workbook",
}
"""The roles of child processes, and their modules."""


def main(arguments: Sequence[str] | None = None) -> int:
    os.umask(0o077)  # all files of this program and its children are private to the user
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _take_role(*choose(given))
    except KeyboardInterrupt:  # while the role's modules are still being imported
        return INTERRUPTED


def _take_role(role: str, rest: list[str]) -> int:
    if role in _CHILDREN:
        return _work(_CHILDREN[role])
    if role == "window" and (why := obstacle(os.environ)):
        sys.stderr.write(f"{why}\n")
        role, rest = "command", ["serve"]
    return _show(rest) if role == "window" else _command(rest)


def choose(given: list[str]) -> tuple[str, list[str]]:
    """Returns the role and its arguments.

    A packaged program starts its other roles by `--role`. People write commands.
    """
    if given[:1] == ["--role"]:
        role, rest = given[1], given[2:]
        return ("command", ["serve", *rest]) if role == "serve" else (role, rest)
    return ("window" if _WINDOW_OPTIONS.issuperset(given) else "command"), given


def obstacle(environment: Mapping[str, str]) -> str:
    """Returns why there can be no window here; empty if there can be one."""
    if importlib.util.find_spec("PySide6") is None:
        return NO_QT
    if sys.platform != "linux" or environment.get("QT_QPA_PLATFORM"):
        return ""
    if environment.get("WAYLAND_DISPLAY") or _answers(environment.get("DISPLAY", "")):
        return ""
    return NO_DISPLAY


def _answers(display: str) -> bool:
    """Whether an X server answers. Qt aborts if its display is gone, so this tests it first."""
    if sys.platform == "win32" or not display.startswith(":"):
        return bool(display)
    path = f"/tmp/.X11-unix/X{display[1:].split('.')[0]}"
    for address in (path, f"\0{path}"):
        with socket.socket(socket.AF_UNIX) as knock:
            if knock.connect_ex(address) == 0:
                return True
    return False


def _show(options: list[str]) -> int:
    from app.shell import session  # noqa: PLC0415
    from server.errors import AppError  # noqa: PLC0415

    try:
        return session.run(hidden="--hidden" in options)
    except AppError as error:
        sys.stderr.write(f"{error}\n")
        return 1


def _command(arguments: list[str]) -> int:
    # Hundreds of modules are imported and stay. Looking for garbage among them takes time.
    gc.disable()
    from server import cli  # noqa: PLC0415

    gc.freeze()
    gc.enable()
    return cli.main(arguments)


def _work(module: str) -> int:
    import runpy  # noqa: PLC0415

    runpy.run_module(module, run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
