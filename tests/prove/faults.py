"""Faults from outside: kills while saving, taken ports, jumping clocks, sleep, damaged files."""

import itertools
import json
import os
import random
import re
import signal
import socket
import subprocess
import time
from pathlib import Path
from time import perf_counter
from typing import IO

from server.core.configuration import SettingsStore
from server.settings import Settings
from server.system import processes as roles
from tests.bench.servers import free_port
from tests.kit.running import PATIENCE_S, SERVES, Moat, all_gone, chat, post
from tests.prove import used
from tests.prove.by_test import shown_by
from tests.prove.rows import Figure, Row, share
from tests.prove.stage import QUIET, Stage, moat_at, port_of
from tests.prove.wire import chat as question
from tests.prove.wire import post as send
from tests.prove.wire import say_hello

FIRST_PORT = 2000
JUMPS_S = (-86_400, 31_536_000, 3600, -3600)
SMALL = {"model": {"slots": 2, "context_tokens": 1024, "idle_unload_min": 1, "gpu_layers": 0}}
OLD_S = 3600.0
QUICK_DAMAGES = 7
FEWEST_FILES = 12
"""The fewest files of a home that was used. With fewer, something was not tried."""
LONG_SLEEP_S = 35
"""Longer than a busy machine may pause (server.core.core)."""
SHIM = Path(__file__).with_name("clock.c")


def kills_while_saving(stage: Stage) -> Figure:
    """Kills a child that saves port after port. The file must hold the last or a later one."""
    count = stage.pick(100, 1000)
    path = stage.scratch("saving") / "settings.json"
    SettingsStore(path).save(Settings().changed("server.port", FIRST_PORT))
    chance = random.Random(3)
    kept, last = 0, FIRST_PORT
    for _ in range(count):
        _save_and_be_killed(path, last, chance.uniform(0.005, 0.12))
        store = SettingsStore(path)
        found = store.load().server.port
        kept += found >= last and not store.notices
        last = max(found, FIRST_PORT)
    saved = last - FIRST_PORT
    for draft in path.parent.glob(".*"):
        os.utime(draft, (time.time() - OLD_S,) * 2)
    SettingsStore(path).load()
    left = len([one for one in path.parent.iterdir() if one.name.startswith(".")])
    text = f"{kept} of {count} kills left the settings old or new ({saved} saves between them)"
    return Figure(f"{text}, {left} drafts left behind", kept == count and saved > count / 4 > left)


def _save_and_be_killed(path: Path, last: int, after_s: float) -> None:
    child = os.fork()
    if not child:
        try:
            store = SettingsStore(path)
            for port in itertools.count(last + 1):
                store.save(Settings().changed("server.port", port))
        finally:
            os._exit(1)
    time.sleep(after_s)  # the moment of the kill is what is tested
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def killed_servers(stage: Stage) -> Figure:
    """Kills servers in mid-answer and starts them again in the same home. No child may remain."""
    count = stage.pick(2, 20)
    home = stage.scratch("killed")
    again, longest_s = 0, 0.0
    for _ in range(count):
        with moat_at(home, SMALL) as moat:
            reply = post(f"{moat.address}/v1/chat/completions", chat("Tell me a long story."))
            reply.readline()
            family = moat.family()
            moat.process.kill()
            longest_s = max(longest_s, all_gone(family, within_s=10))
            reply.close()
        with moat_at(home) as moat:
            again += say_hello(port_of(moat))
    text = (
        f"{again} of {count} started again at once; the last child was gone {longest_s:.1f} s later"
    )
    return Figure(text, again == count and longest_s <= 2)


def taken_ports(stage: Stage) -> Figure:
    """Another program has the port. That of the settings is replaced, that of `--port` is not."""
    count = stage.pick(4, 100)
    served = named = refused = 0
    for _ in range(count):
        with socket.create_server(("127.0.0.1", 0)) as other:
            taken = other.getsockname()[1]
            owner = re.compile(rf"Port {taken} is taken by \S+ \(process {os.getpid()}\)")
            home = stage.scratch("port")
            settings = {"server": {"port": taken}, "model": {"load_at_start": False}}
            with moat_at(home, settings, wait_for=SERVES, port=None) as moat:
                served += port_of(moat) != taken and _health(port_of(moat))
                named += any(owner.search(line) for line in moat.lines)
            refused += bool(owner.search(_refusal(home, taken)))
    text = (
        f"set in the settings: {served} of {count} served on another port, {named} named the taken "
        f"one and who has it; asked for: {refused} of {count} refused and named who has it"
    )
    return Figure(text, served == named == refused == count)


def _refusal(home: Path, port: int) -> str:
    """Returns Moat's message if it ends with an error for this port; otherwise empty."""
    ended = subprocess.run(
        roles.command("serve", "--port", str(port)),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**roles.environment("serve"), **QUIET, "MOAT_HOME": str(home)},
        timeout=PATIENCE_S,
        check=False,
    )
    return ended.stdout + ended.stderr if ended.returncode else ""


def _health(port: int) -> bool:
    with socket.create_connection(("127.0.0.1", port), 5) as wire:
        head = f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"
        wire.sendall(head.encode())
        return b" 200 " in wire.recv(200)


def two_at_once(stage: Stage) -> Figure:
    """Two servers in one home: both serve, and if one ends the other goes on."""
    home = stage.scratch("two")
    settings = {**SMALL, "server": {"port": free_port()}}
    with moat_at(home, settings, port=None) as first:
        with moat_at(home, port=None) as second:
            both = say_hello(port_of(first)) and say_hello(port_of(second))
            apart = first.address != second.address
        after = say_hello(port_of(first))
    text = (
        f"both served: {both}; on ports of their own: {apart}; the first after the second: {after}"
    )
    return Figure(text, both and apart and after)


def clock_jumps(stage: Stage) -> Figure:
    """The wall clock of the server and the worker jumps during an answer."""
    folder = stage.scratch("clock")
    library, moved = folder / "clock.so", folder / "offset"
    moved.write_text("0")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(SHIM), "-ldl"], check=True)
    environment = {"LD_PRELOAD": str(library), "MOAT_PROVE_CLOCK": str(moved)}
    whole = seen = 0
    with moat_at(folder / "home", SMALL, environment=environment) as moat:
        worker = moat.worker().pid
        for jump in JUMPS_S:
            reply = post(
                f"{moat.address}/v1/chat/completions", chat("Tell a story.", max_tokens=40)
            )
            reply.readline()
            moved.write_text(str(jump))
            whole += _ended(reply)
            seen += abs(_created(moat) - time.time() - jump) < 60
            moved.write_text("0")
        same = moat.worker().pid == worker
    total = len(JUMPS_S)
    text = f"{whole} of {total} answers went on through a jump (of a day, a year, an hour)"
    text += (
        f", {seen} jumps were seen on the clock; the model {'stayed' if same else 'WAS UNLOADED'}"
    )
    return Figure(text, whole == seen == total and same)


def _ended(reply: IO[bytes]) -> bool:
    rest = reply.read()
    return b"[DONE]" in rest and b'"error"' not in rest


def _created(moat: Moat) -> float:
    answer = send(port_of(moat), "/v1/chat/completions", question("Hi"))
    return float(answer.json()["created"])


def asleep(stage: Stage) -> Figure:
    """Stops all processes during an answer, like a suspended machine, and resumes them."""
    rests_s = (3, 3) if stage.quick else (10, 10, 10, LONG_SLEEP_S) * 5
    ended, slowest_s = 0, 0.0
    with moat_at(stage.scratch("asleep"), SMALL) as moat:
        for rest_s in rests_s:
            reply = post(
                f"{moat.address}/v1/chat/completions", chat("Tell a story.", max_tokens=30)
            )
            reply.readline()
            family = moat.family()
            for one in family:
                one.suspend()
            time.sleep(rest_s)  # the length of the sleep is what is tested
            for one in reversed(family):
                one.resume()
            began = perf_counter()
            served = say_hello(port_of(moat))
            slowest_s = max(slowest_s, perf_counter() - began)
            rest = reply.read()
            ended += served and (b"[DONE]" in rest or b'"error"' in rest)
    figure = share(
        ended,
        len(rests_s),
        f"answers ended whole or typed after up to {max(rests_s)} s of sleep",
    )
    text = f"{figure.text}; the next question took at most {slowest_s:.1f} s"
    return Figure(text, figure.held and slowest_s <= 5)


def damaged_home(stage: Stage) -> Figure:
    """Damages each file of a used home in several ways. The server must start and serve."""
    home = stage.scratch("damaged")
    with moat_at(home, used.KEPT) as moat:
        used.use(home, port_of(moat))
    files = [path for path in sorted(home.rglob("*")) if path.is_file()]
    ways = (b"", b'{"access-key": 5}', b'{"server": {"port": "x"', b"[1, 2]", os.urandom(200))
    damages = list(itertools.product(files, ways))
    tried = served = 0
    for path, way in damages[:: stage.pick(len(damages) // QUICK_DAMAGES, 1)]:
        original = path.read_bytes()
        path.write_bytes(way)
        with moat_at(home, None, wait_for=SERVES) as moat:
            served += _health(port_of(moat))
            tried += 1
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(original)
    settings = json.loads((home / "config" / "settings.json").read_text("utf-8"))
    figure = share(served, tried, f"starts with one of {len(files)} files damaged served")
    return Figure(figure.text, figure.held and bool(settings) and len(files) > FEWEST_FILES)


ROWS = (
    Row(
        "F5",
        "Whatever kills a worker, the server lives and the next question is answered",
        "all served again; in full <= 3 s and the load",
        shown_by(
            "tests/faults/test_worker_faults.py",
            full={"MOAT_FAULT_ROUNDS": "100", "MOAT_DISCONNECTS": "1000"},
        ),
    ),
    Row(
        "F6",
        "A model that cannot fit is stepped down, and nothing dies",
        "all load smaller and answer",
        shown_by("tests/faults/test_memory_faults.py", full={"MOAT_MEMORY_FAULTS": "25"}),
    ),
    Row(
        "F9",
        "A download ends whole or says why, whatever happens to it",
        "bit-identical, 0 wedged",
        shown_by(
            "tests/faults/test_download_faults.py",
            full={
                "MOAT_DOWNLOAD_FAULTS": "300",
                "MOAT_DOWNLOAD_KILLS": "30",
                "MOAT_DOWNLOAD_FULL": "20",
            },
        ),
    ),
    Row(
        "F11",
        "kill -9 while saving never loses the settings",
        "old or new, always",
        kills_while_saving,
        beside="apart",
    ),
    Row(
        "F11a",
        "A server killed in mid-answer leaves no child and starts again",
        "all again, children gone <= 2 s",
        killed_servers,
    ),
    Row(
        "F11b",
        "No damaged file keeps Moat from starting",
        "all starts served",
        damaged_home,
        beside="apart",
    ),
    Row(
        "F12",
        "A taken port is named with its owner; the next one works, unless that one was asked for",
        "all of them",
        taken_ports,
        beside="apart",
    ),
    Row(
        "F12a",
        "Two servers in one home do each other no harm",
        "both serve",
        two_at_once,
        beside="apart",
    ),
    Row(
        "F12b",
        "A second window raises the first",
        "every time; in full <= 1 s",
        shown_by("tests/app/shell/test_single.py", full={"MOAT_RAISED_WITHIN_S": "1"}),
    ),
    Row(
        "F13",
        "A clock that jumps changes nothing",
        "all answers go on",
        clock_jumps,
        beside="apart",
    ),
    Row(
        "F14",
        "After a sleep answers end typed and the server answers",
        "all ended, <= 5 s",
        asleep,
    ),
)
