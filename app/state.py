"""What Moat is doing, in one look and a few words: the same for tray, sidebar and Home."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from server.face import Face, ModelCard, ModelStatus, RunningRequest, ServerStatus
from server.observe import Disconnect

Look = Literal["stopped", "loading", "ready", "busy", "failed"]

LOOK_WORDS: dict[Look, str] = {
    "stopped": "Stopped",
    "loading": "Loading",
    "ready": "Ready",
    "busy": "Answering",
    "failed": "Needs attention",
}


@dataclass(frozen=True, slots=True)
class Summary:
    look: Look
    headline: str
    detail: str
    advice: str = ""
    """What to do about a failure."""


def summarise(
    server: ServerStatus, model: ModelStatus, requests: tuple[RunningRequest, ...]
) -> Summary:
    match server.phase:
        case "failed":
            advice = "Try to start it again. If it fails again, the log says more."
            return Summary("failed", "Moat cannot serve", server.reason, advice)
        case "stopped":
            detail = "Nothing is served. Start Moat to let programs on this computer connect."
            return Summary("stopped", "Moat is stopped", detail)
        case "starting":
            return Summary("loading", "Moat is starting", "This takes a second or two.")
        case "ready":
            return _serving(model, requests)


def watch(core: Face, show: Callable[[Summary], None]) -> Disconnect:
    """Call `show` now and whenever the summary may have changed."""

    def tell(_: object) -> None:
        show(summarise(core.server.get(), core.model.get(), core.requests.get()))

    ends = [value.connect(tell) for value in (core.server, core.model)]
    ends.append(core.requests.connect(tell))

    def disconnect() -> None:
        for end in ends:
            end()

    return disconnect


def describe_model(model: ModelStatus, cards: tuple[ModelCard, ...]) -> str:
    """Facts about the model that answers, as a short line."""
    card = next((card for card in cards if card.name == model.name), None)
    parts = [card.quantisation if card else "", size(card.size_bytes) if card else ""]
    if model.context_tokens:
        parts.append(f"{model.context_tokens:,} tokens of context")
    parts.append(model.device.upper() if model.device in ("cpu", "gpu") else model.device)
    return "  ·  ".join(part for part in parts if part)


def sentence(text: str) -> str:
    """Facts come in lower case; on a page they begin like a sentence."""
    return text[:1].upper() + text[1:]


def size(count: int) -> str:
    amount = float(count)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def phase_of(request: RunningRequest) -> str:
    match request.phase:
        case "waiting":
            return "Waiting for its turn"
        case "reading" if request.prompt_total:
            done = f"{request.prompt_done:,} of {request.prompt_total:,} tokens"
            return f"Reading the prompt: {done}"
        case "reading":
            return "Reading the prompt"
        case "writing":
            return f"Writing: {request.tokens:,} tokens so far"


def _serving(model: ModelStatus, requests: tuple[RunningRequest, ...]) -> Summary:
    match model.phase:
        case "loading":
            detail = f"{model.progress:.0%} read. Requests wait until it is ready."
            return Summary("loading", f"Loading {model.name}", detail)
        case "failed":
            advice = "Pick another model below, or close other programs and try again."
            return Summary("failed", f"{model.name} could not be loaded", model.reason, advice)
        case "empty":
            detail = "No model is loaded. Pick one below; a request loads it too."
            return Summary("ready", "Moat is ready", detail)
        case "ready" if requests:
            many = "1 request" if len(requests) == 1 else f"{len(requests)} requests"
            return Summary("busy", f"Answering {many}", f"{model.name} is at work.")
        case "ready":
            return Summary("ready", "Moat is ready", f"{model.name} answers on this computer.")
