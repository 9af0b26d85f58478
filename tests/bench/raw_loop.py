"""The bare decode loop: the speed of one stream if only llama.cpp took time."""

import json
import sys
from pathlib import Path
from time import perf_counter

import numpy as np

from server.engine.base import EngineOptions
from server.engine.worker.decode.batch import Batch
from server.engine.worker.load.context import Context
from server.engine.worker.load.model import Model
from server.engine.worker.load.plan import make_plan


def tokens_per_s(path: Path, threads: int, prompt: int, tokens: int) -> float:
    options = EngineOptions(context_tokens=4096, slots=1, threads=threads)
    model = Model(path, options, lambda _done: None)
    context = Context(model, make_plan(model, options))
    batch = Batch(512, 1, 4096)
    batch.add(np.arange(1000, 1000 + prompt), 0, 0, 1)
    context.decode(batch)
    began = perf_counter()
    for position in range(prompt, prompt + tokens):
        token = int(context.rows()[0].argmax())
        batch.clear()
        batch.add([token], 0, position, 1)
        context.decode(batch)
    return tokens / (perf_counter() - began)


if __name__ == "__main__":
    figures = [int(argument) for argument in sys.argv[2:]]
    sys.stdout.write(json.dumps(tokens_per_s(Path(sys.argv[1]), *figures)) + "\n")
