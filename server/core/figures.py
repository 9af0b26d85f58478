"""Metrics for operators, in Prometheus's format: durations and token counts of answers.

They are labelled with the model and the key's name. Reading them neither loads a model nor keeps
one loaded.
"""

import asyncio
import re
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from server.chat import Json
from server.engine.base import Engine
from server.errors import AppError
from server.events import Usage
from server.face.models import EngineState

LABELS = ("model", "key")
UNKNOWN = "unknown"
"""Label for models that do not exist. Clients may send any name, and each would be a series."""
FIRST_S = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0)
BETWEEN_S = (0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0)
WHOLE_S = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 640.0)
STATS_S = 2.0
"""Seconds that a worker may take to report its counters. After that they are left out."""
ENGINE_COUNTERS = {
    "steps": "Steps of the model",
    "decode_s": "Seconds spent in the model",
    "answers": "Answers ended",
    "cancelled": "Answers cancelled",
    "refused": "Requests refused",
}


class Figures(Collector):
    """The registry of all metrics. As a collector it adds the counters of engines."""

    def __init__(self, models: Callable[[], Iterable[str]]) -> None:
        """`models` returns the names that may become labels. All others become `unknown`."""
        self._models = models
        self._registry = made = CollectorRegistry()
        self.first = self._make_histogram(
            "moat_time_to_first_token_seconds",
            "From a request's arrival to the first piece of its answer.",
            FIRST_S,
        )
        self.between = self._make_histogram(
            "moat_time_between_tokens_seconds",
            "Between one piece of an answer and the next.",
            BETWEEN_S,
        )
        self.whole = self._make_histogram(
            "moat_request_seconds", "From a request's arrival to its end.", WHOLE_S
        )
        self.ended = Counter(
            "moat_requests", "Requests that have ended.", (*LABELS, "outcome"), registry=made
        )
        self.read = Counter("moat_prompt_tokens", "Tokens of prompts.", LABELS, registry=made)
        self.cached = Counter(
            "moat_cached_tokens", "Tokens of prompts that the cache held.", LABELS, registry=made
        )
        self.written = Counter(
            "moat_completion_tokens", "Tokens of answers.", LABELS, registry=made
        )
        self.running = Gauge(
            "moat_running_requests", "Requests that are being answered.", LABELS, registry=made
        )
        self.waiting = Gauge(
            "moat_waiting_requests", "Requests that wait in the queue.", LABELS, registry=made
        )
        self._stats: dict[str, Json] = {}
        self._elsewhere: tuple[EngineState, ...] = ()
        made.register(self)
        ProcessCollector(registry=made)

    def _make_histogram(self, name: str, about: str, buckets: tuple[float, ...]) -> Histogram:
        return Histogram(name, about, LABELS, buckets=buckets, registry=self._registry)

    def begin(self, model: str, key: str) -> "Measured":
        known = model if model in self._models() else UNKNOWN
        return Measured(self, known, key)

    def count(self, model: str, key: str, usage: Usage) -> None:
        """Counts the tokens of a request without events, such as embeddings or a ranking."""
        measured = self.begin(model, key)
        measured.end("stop", usage)

    async def show(self, engines: dict[str, Engine], elsewhere: tuple[EngineState, ...]) -> str:
        """Returns all metrics as text. `engines` are the loaded ones."""
        stats = await asyncio.gather(*map(_ask, engines.values()))
        self._stats = dict(zip(engines, stats, strict=True))
        self._elsewhere = elsewhere
        return generate_latest(self._registry).decode()

    def collect(self) -> Iterable[Metric]:
        """Yields the counters that engines report. Prometheus's registry calls this."""
        loaded = GaugeMetricFamily("moat_model_loaded", "Models that are loaded.", labels=["model"])
        for model in self._stats:
            loaded.add_metric([model], 1)
        yield loaded
        for name, about in ENGINE_COUNTERS.items():
            full = f"moat_engine_{re.sub('_s$', '_seconds', name)}"
            family = CounterMetricFamily(full, f"{about}.", labels=["model"])
            for model, stats in self._stats.items():
                if isinstance(stats.get(name), int | float):
                    family.add_metric([model], stats[name])
            yield family
        up = GaugeMetricFamily(
            "moat_engine_up", "Whether a server elsewhere answers.", labels=["model", "host"]
        )
        for state in self._elsewhere:
            for host in state.engine.hosts:
                answers = state.phase == "ready" and host not in state.out
                up.add_metric([state.engine.name, host], answers)
        yield up


class Measured:
    """The measurement of one request, from its arrival to its end."""

    def __init__(self, figures: Figures, model: str, key: str) -> None:
        self._figures = figures
        self._labels = (model, key)
        self._began = time.perf_counter()
        self._last = 0.0
        self._between = figures.between.labels(model, key)
        self._waits = True
        figures.waiting.labels(model, key).inc()

    def start(self) -> None:
        """Moves the request from waiting to running: the model reads its prompt or writes."""
        if self._waits:
            self._waits = False
            self._figures.waiting.labels(*self._labels).dec()
            self._figures.running.labels(*self._labels).inc()

    def see_token(self) -> None:
        now = time.perf_counter()
        if self._last:
            self._between.observe(now - self._last)
        else:
            self.start()
            self._figures.first.labels(*self._labels).observe(now - self._began)
        self._last = now

    def end(self, outcome: str, usage: Usage) -> None:
        figures, labels = self._figures, self._labels
        gauge = figures.waiting if self._waits else figures.running
        gauge.labels(*labels).dec()
        figures.whole.labels(*labels).observe(time.perf_counter() - self._began)
        figures.ended.labels(*labels, outcome).inc()
        figures.read.labels(*labels).inc(usage.prompt_tokens)
        figures.cached.labels(*labels).inc(usage.cached_tokens)
        figures.written.labels(*labels).inc(usage.completion_tokens)


async def _ask(engine: Engine) -> dict[str, Any]:
    with suppress(AppError, TimeoutError):  # it stopped meanwhile, or is in a long step
        async with asyncio.timeout(STATS_S):
            return await engine.stats()
    return {}
