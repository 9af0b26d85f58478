"""A summary of what Moat is doing, in a few words: the same for tray, sidebar and Home."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from app.look.translate import join_sentences, numeral, told, tr
from server.errors import OutOfMemory
from server.face.core import Face, ModelStatus, RunningRequest, ServerStatus, find_away
from server.face.models import ModelCard
from server.observe import Disconnect

Look = Literal["stopped", "loading", "ready", "busy", "failed"]

LOOKS: tuple[Look, ...] = ("stopped", "loading", "ready", "busy", "failed")


def look_words(look: Look) -> str:
    return {
        "stopped": tr("Stopped"),
        "loading": tr("Loading"),
        "ready": tr("Ready"),
        "busy": tr("Answering"),
        "failed": tr("Needs attention"),
    }[look]


@dataclass(frozen=True, slots=True)
class Summary:
    """The state of Moat in words."""

    look: Look
    headline: str
    detail: str
    advice: str = ""
    """What to do about a failure."""
    details: str = ""
    """The technical details of a failure."""
    away: str = ""
    """The hosts that prompts are sent to, in a sentence; empty if they stay here."""


def summarise(
    server: ServerStatus, model: ModelStatus, requests: tuple[RunningRequest, ...]
) -> Summary:
    match server.phase:
        case "failed":
            advice = tr("This takes a few seconds. If it fails again, the log has the details.")
            headline, reason = tr("The server is not running"), told(server.reason)
            return Summary("failed", headline, reason, advice, server.details)
        case "hung":
            advice = tr("Restart it; answers in progress are lost. It may also recover by itself.")
            return Summary("failed", tr("Moat does not respond"), told(server.reason), advice)
        case "stopped":
            detail = tr(
                "The server is off. Start it so that programs on this computer can connect."
            )
            return Summary("stopped", tr("Moat is stopped"), detail)
        case "starting":
            return Summary("loading", tr("Moat is starting"), tr("This takes a second or two."))
        case "ready":
            return replace(_serving(model, requests), away=_away(model))


def is_heard(server: ServerStatus) -> bool:
    """Whether the server's values are known. They are if it is ready or stopped."""
    return server.phase in ("ready", "stopped")


def watch(core: Face, show: Callable[[Summary], None]) -> Disconnect:
    """Calls `show` now and whenever the summary may have changed."""

    def tell(_: object) -> None:
        show(summarise(core.server.get(), core.model.get(), core.requests.get()))

    ends = [core.server.connect(tell), core.model.connect(tell), core.requests.connect(tell)]

    def disconnect() -> None:
        for end in ends:
            end()

    return disconnect


def describe_model(model: ModelStatus, cards: tuple[ModelCard, ...]) -> str:
    """Returns a short line of facts about the model that answers."""
    card = next((card for card in cards if card.name == model.name), None)
    is_here = card is not None and not card.hosts
    parts = [card.quantisation if card else "", size(card.size_bytes) if card and is_here else ""]
    if model.context_tokens:
        parts.append(tr("{tokens} tokens of context").format(tokens=numeral(model.context_tokens)))
    device = model.device.upper() if model.device in ("cpu", "gpu") else model.device
    parts.append(", ".join(model.hosts) or device)
    return "  ·  ".join(part for part in parts if part)


def where_words(hosts: tuple[str, ...]) -> str:
    """Returns which machines prompts are sent to; empty if the model is not on a server."""
    away = find_away(hosts)
    if away:
        return tr("Prompts are sent to {hosts}.").format(hosts=", ".join(away))
    if hosts:
        return tr("On this computer, at {hosts}.").format(hosts=", ".join(hosts))
    return ""


def sentence(text: str) -> str:
    """Starts a fact, which is in lower case, with a capital letter."""
    return text[:1].upper() + text[1:]


def size(count: int) -> str:
    amount = float(count)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{numeral(amount, '.0f')} {unit}"
        amount /= 1000
    return f"{numeral(amount, '.1f')} GB"


def phase_of(request: RunningRequest) -> str:
    match request.phase:
        case "waiting":
            return tr("Queued")
        case "reading" if request.prompt_total:
            done = tr("{done} of {total} tokens").format(
                done=numeral(request.prompt_done), total=numeral(request.prompt_total)
            )
            return tr("Reading the prompt: {done}").format(done=done)
        case "reading":
            return tr("Reading the prompt")
        case "writing":
            return tr("Writing: {count} tokens so far").format(count=numeral(request.tokens))


def _serving(model: ModelStatus, requests: tuple[RunningRequest, ...]) -> Summary:
    match model.phase:
        case "loading":
            words = tr("{percent} read. Requests wait until it is ready.")
            read = words.format(percent=numeral(model.progress, ".0%"))
            detail = told(model.reason) or read
            return Summary("loading", tr("Loading {name}").format(name=model.name), detail)
        case "failed":
            # The details begin with the error's code. Other errors about memory contain their own
            # advice.
            lacks_memory = model.details.partition("\n")[0] == OutOfMemory.code
            advice = (
                tr("Choose another model below, or close other programs and try again.")
                if lacks_memory
                else tr("Choose another model below, or try again.")
            )
            return Summary(
                "failed",
                tr("{name} could not be loaded").format(name=model.name),
                told(model.reason),
                advice,
                model.details,
            )
        case "empty":
            detail = tr("No model is loaded. Choose one below; a request loads it too.")
            return Summary("ready", tr("Moat is ready"), detail)
        case "ready" if requests:
            headline = tr("Answering 1 request") if len(requests) == 1 else (
                tr("Answering {count} requests").format(count=len(requests))
            )  # fmt: skip
            at_work = tr("{name} is working.").format(name=model.name)
            return Summary("busy", headline, join_sentences((at_work, _away(model))))
        case "ready":
            here = tr("{name} runs on this computer.").format(name=model.name)
            return Summary("ready", tr("Moat is ready"), _away(model) or here)


def _away(model: ModelStatus) -> str:
    away = find_away(model.hosts)
    words = tr("{name} runs at {hosts}. Prompts are sent there.")
    return words.format(name=model.name, hosts=", ".join(away)) if away else ""
