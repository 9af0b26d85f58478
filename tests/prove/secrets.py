"""S22, S27, S28: no secret in any file, log or process list; nobody else can read a file."""

import os
import stat
from contextlib import suppress
from pathlib import Path
from urllib.error import HTTPError

import psutil

from tests.kit.running import Moat, until
from tests.prove import used
from tests.prove.control import command
from tests.prove.effects import files_of
from tests.prove.rows import Figure, Row
from tests.prove.stage import Stage, moat_at, port_of
from tests.prove.wire import ask, chat, post

CANARIES = {
    "prompt": "canary-prompt-5d1f",
    "token": "hf_canaryTokenCanary77",
    "proxy": "canaryProxyPass81",
    "header": "sk-canaryHeader9931",
}
KEYED = {
    "server": {"require_key": True},
    "network": {"proxy": f"http://user:{CANARIES['proxy']}@127.0.0.1:9"},
    "model": {"slots": 1, "context_tokens": 1024},
}
STORE = "secrets.json"
"""The file in which secrets are kept on purpose, for the user alone. The proof uses no keyring."""


def exercise(home: Path, moat: Moat) -> str:
    """Does everything that touches a secret. Returns the access key."""
    key = str(command(home, "access_key"))
    port = port_of(moat)
    given = {"Authorization": f"Bearer {key}"}
    body = chat(CANARIES["prompt"], 4)
    post(port, "/v1/chat/completions", body, given)
    post(port, "/v1/messages", body, {"X-API-Key": key})
    post(port, "/v1/chat/completions", body | {"stream": "wrong"}, given)
    post(port, "/v1/chat/completions", body | {"model": "nowhere"}, given)
    ask(port, "GET", "/v1/models", {"Authorization": f"Bearer {CANARIES['header']}"})
    ask(port, "GET", f"/v1/models?key={CANARIES['header']}", given)
    command(home, "models.set_hub_token", token=CANARIES["token"])
    with suppress(HTTPError):
        # The proxy does not answer. The error must not contain its password.
        command(home, "models.search", text="anything")
    command(home, "change_setting", field="model.slots", value=2)
    moat.worker().kill()
    until(lambda: post(port, "/v1/chat/completions", body, given).status == 200 or None)
    return key


def seen_outside(moat: Moat) -> str:
    """Returns what other programs can see of these processes."""
    texts = []
    for one in moat.family():
        texts += [*one.cmdline(), one.name()]
    return "\n".join(texts)


def worker_environment(moat: Moat) -> str:
    return "\n".join(f"{name}={value}" for name, value in moat.worker().environ().items())


def leaks(stage: Stage) -> Figure:
    home = stage.scratch("secrets")
    environment = {"MOAT_SECRET_HUB_TOKEN": CANARIES["token"]}
    with moat_at(home, KEYED, environment=environment) as moat:
        key = exercise(home, moat)
        outside = seen_outside(moat) + worker_environment(moat)
        told = "\n".join(str(line) for line in command(home, "recent_logs", count=5000))
    hidden = {**CANARIES, "key": key}
    hits = [f"{name} in a process list" for name, text in hidden.items() if text in outside]
    hits += [f"{name} in the log" for name, text in hidden.items() if text in told]
    looked = 0
    for path in home.rglob("*"):
        if path.is_file():
            looked += 1
            hits += _hits(path, hidden)
    text = (
        f"{len(hidden)} canaries, {looked} files, {len(told)} characters of log: {len(hits)} hits"
    )
    return Figure(f"{text} {', '.join(hits[:4])}".strip(), not hits and looked > 3 and bool(told))


def _hits(path: Path, hidden: dict[str, str]) -> list[str]:
    content = path.read_bytes()
    return [
        f"{name} in {path.name}"
        for name, text in hidden.items()
        if text.encode() in content and (path.name != STORE or name == "prompt")
    ]


def modes(stage: Stage) -> Figure:
    """Checks permissions with the most permissive umask, wherever Moat writes, regardless of the
    parent's."""
    home, temporary = stage.scratch("modes"), stage.scratch("tmp")
    before = os.umask(0)
    try:
        used.fill_log(home)
        with moat_at(home, used.KEPT, environment={"TMPDIR": str(temporary)}) as moat:
            key = exercise(home, moat)
            used.use(home, port_of(moat), {"Authorization": f"Bearer {key}"})
            found = {path: path.lstat().st_mode for path in (home, *_all_in(home, temporary))}
        found |= {path: path.lstat().st_mode for path in _all_in(home, temporary)}
    finally:
        os.umask(before)
    open_ = [f"{path.name} {stat.filemode(mode)}" for path, mode in found.items() if _is_open(mode)]
    text = f"{len(found) - len(open_)} of {len(found)} files and folders are for the user alone"
    return Figure(f"{text} {', '.join(open_[:4])}".strip(), not open_ and len(found) > 25)


def _all_in(*folders: Path) -> list[Path]:
    return [path for folder in folders for path in folder.rglob("*")]


def _is_open(mode: int) -> bool:
    """Whether a folder is not 0700, or a file not 0600. A link has no mode of its own."""
    wanted = 0o700 if stat.S_ISDIR(mode) else 0o600
    return not stat.S_ISLNK(mode) and stat.S_IMODE(mode) != wanted


def temporary_files(stage: Stage) -> Figure:
    """Checks that a killed server leaves no file in the temporary folder."""
    folder = stage.scratch("tmp")
    environment = {"TMPDIR": str(folder)}
    with moat_at(stage.scratch("home"), environment=environment) as moat:
        family = moat.family()
        moat.process.kill()
        psutil.wait_procs(family, 5)
    left = files_of(folder)
    return Figure(f"{len(left)} files left after kill -9", not left)


ROWS = (
    Row(
        "S22",
        "Keys, tokens, proxy passwords and prompts are in no log, file or process list",
        "0 hits",
        leaks,
    ),
    Row(
        "S27",
        "No code and nothing world-writable lies in a temporary folder, even after kill -9",
        "0 files",
        temporary_files,
    ),
    Row(
        "S28",
        "Every file and folder is for its user alone (0600, 0700), whatever the umask",
        "all of them",
        modes,
    ),
)
