"""S9 to S13 and F7: damaged and hostile GGUF files in the models folder of a running server."""

import signal
import subprocess
from collections import Counter
from pathlib import Path
from time import perf_counter
from typing import Any

from scripts.build_llama_server import llama_server as built_llama_server
from server.errors import ModelDamaged
from server.models.gguf.files import check
from tests.bench.servers import free_port
from tests.kit.gguf_files import write_model
from tests.kit.gguf_mutants import Mutants
from tests.kit.running import Moat
from tests.prove.by_test import shown_by
from tests.prove.rows import Figure, Row
from tests.prove.stage import Stage, moat_at, port_of
from tests.prove.wire import chat, post, say_hello
from tests.server.engine.worker.prompt.test_template import ESCAPES, HOGS

CHAT = "/v1/chat/completions"
TEMPLATES = "tests/server/models/gguf/test_templates.py"
OF_REAL_MODELS = "test_honest_templates_of_real_models_are_rarely_suspected"
REFUSED_WITHIN_S = 15.0
"""In seconds. A render has two; it is tried when the model loads, and for the question."""
SMALL = {"model": {"slots": 1, "context_tokens": 512, "gpu_layers": 0}}


def mutants(stage: Stage) -> Figure:
    """Requests each mutant by name. Between them the good model must answer."""
    count = stage.pick(25, 1000)
    home = stage.scratch("mutants")
    folder = home / "data" / "models"
    folder.mkdir(parents=True)
    made = Mutants(stage.scratch("whole"))
    for number in range(count):
        made.make(number, folder / f"mutant-{number}.gguf")
    ends: Counter[str] = Counter()
    with moat_at(home, SMALL) as moat:
        for number in range(count):
            ends[_end_of(moat, f"mutant-{number}")] += 1
            if number % 10 == 0:
                ends["dead"] += not say_hello(port_of(moat))
        alive = moat.process.poll() is None and say_hello(port_of(moat))
    refused, loaded = ends["refused"], ends["loaded"]
    text = f"{count} mutants: {refused} refused by name, {loaded} loaded, {ends['odd']} otherwise"
    held = alive and refused + loaded == count and refused > count / 2 and not ends["dead"]
    return Figure(f"{text}; the server {'lives' if alive else 'DIED'}", held)


def _end_of(moat: Moat, name: str) -> str:
    answer = post(port_of(moat), CHAT, chat("Hi") | {"model": name})
    if answer.status == 200:
        return "loaded"
    said = answer.json()["error"]["message"] if answer.body else ""
    # A status of 404 would only show that the file is not listed.
    return "refused" if answer.status in (422, 502, 503) and name in said else "odd"


def mutants_there(stage: Stage) -> Figure:
    """Gives the same files to llama-server, each at its start."""
    count = stage.pick(25, 100)
    folder = stage.scratch("mutants")
    made = Mutants(folder)
    ends: Counter[str] = Counter()
    for number in range(count):
        path = folder / "mutant.gguf"
        made.make(number, path)
        ends[_server_end(path)] += 1
    text = ", ".join(f"{number} {end}" for end, number in ends.most_common())
    return Figure(f"{count} mutants: {text}", held=True)


def _server_end(path: Path) -> str:
    command = [str(built_llama_server()), "-m", str(path), "--port", str(free_port())]
    try:
        run = subprocess.run(
            [*command, "-c", "256"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=2.5,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "loaded"
    if run.returncode < 0:
        return f"ended by {signal.Signals(-run.returncode).name}"
    return "refused"


def own_check(stage: Stage) -> Figure:
    """Counts how many mutants our reader refuses. It must never fail in another way."""
    count = stage.pick(500, 5000)
    folder = stage.scratch("mutants")
    made, path = Mutants(folder), folder / "mutant.gguf"
    refused = 0
    for number in range(count):
        made.make(number, path)
        try:
            check(path)
        except ModelDamaged as error:
            refused += bool(error.defect)
    text = f"{refused} of {count} mutants refused with the defect named, 0 other failures"
    return Figure(text, refused > count / 2)


def hostile_templates(stage: Stage) -> Figure:
    """Requests models with templates that escape or use too much, one after the other."""
    payloads = (*ESCAPES, *HOGS)
    chosen = payloads[:: stage.pick(4, 1)]
    home, mark = stage.scratch("templates"), stage.scratch("mark") / "was here"
    folder = home / "data" / "models"
    for number, payload in enumerate(chosen):
        command = f"touch '{mark}'".replace("'", r"\'")
        own: dict[str, Any] = {"tokenizer.chat_template": payload.replace("'id'", f"'{command}'")}
        write_model(folder / f"t{number}.gguf", **own)
    refused, others, took = 0, 0, []
    with moat_at(home, SMALL) as moat:
        port = port_of(moat)
        for number in range(len(chosen)):
            began = perf_counter()
            answer = post(port, CHAT, chat("Hi") | {"model": f"t{number}"})
            took.append(perf_counter() - began)
            refused += answer.status == 422 and "template" in answer.body.decode()
            others += say_hello(port)
    text = f"{refused} of {len(chosen)} refused, {others} of {len(chosen)} other questions answered"
    text += f", the slowest after {max(took):.1f} s with its load"
    held = refused == others == len(chosen) and not mark.exists() and max(took) < REFUSED_WITHIN_S
    return Figure(f"{text}, {int(mark.exists())} programs started", held)


ROWS = (
    Row(
        "S9",
        "A damaged model file never ends the server",
        "all refused by name or loaded, the server lives",
        mutants,
        mutants_there,
        beside="apart",
    ),
    Row(
        "S10",
        "Damaged files are refused before native code sees them",
        ">= 99 % of the harmful",
        shown_by("tests/faults/test_gguf_mutants.py", full={"MOAT_MUTANTS": "1000"}),
    ),
    Row(
        "S11",
        "A model's chat template cannot run code",
        "every escape refused",
        shown_by("tests/server/engine/worker/prompt/test_template.py"),
    ),
    Row(
        "S12",
        "A hostile template ends its own request, nobody else's",
        f"all refused within {REFUSED_WITHIN_S:.0f} s, all others answered",
        hostile_templates,
    ),
    Row(
        "S13",
        "A template that rewrites conversations is shown before its first use",
        "every poisoned one named",
        # The templates of real models are not in the repository.
        shown_by(TEMPLATES, f"--deselect={TEMPLATES}::{OF_REAL_MODELS}"),
    ),
)
READER = (
    Row(
        "F7",
        "Our own reader names the defect of a bad model",
        "0 other failures",
        own_check,
        beside="apart",
    ),
)
