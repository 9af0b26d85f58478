"""Judges whether a model runs on this machine: a verdict, the setup that fits, and the speed.

A setup that a model had to be loaded with is remembered for the next time. The speed is predicted
from the header and from the machine's pace, which is measured once: to write a token, the machine
reads all weights; to read a prompt, it multiplies them with many tokens at once. Each number format
has its own pace, since unpacking it often takes longer than reading it from memory.
"""

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from server.face.models import Device, Fit, KvType, Machine, Memory, Pace, Rate, Setup, Verdict
from server.models.gguf.header import FORMATS, Header
from server.models.memory import EXPERTS, Layout, largest_context, layout_of, memory_of
from server.sentences import Sentence, in_a_row, listed
from server.sizes import MIB, in_gb
from server.system.files import JsonFile

COMFORTABLE = 0.8
"""The share of the free memory that a model may take without disturbing other programs."""
GPU_MARGIN = 512 * MIB
SYSTEM_MARGIN = 256 * MIB
CACHE_SHARE = 0.25
CACHE_MOST = 4096 * MIB
SMALLEST_CONTEXT = 2048
LAST_CONTEXT = 512
SLOW_BYTES = 8192 * MIB
"""Bytes of weights read per token above which a processor is slow, if its speed is not known."""
READING_PACE = 7.0
"""Tokens per second that people read. Below this, one waits for the answer while reading it."""


def judge(header: Header, setup: Setup, machine: Machine, weight_bytes: int = 0) -> Fit:
    """Returns the verdict on a setup, after choosing the context and layers that it leaves open."""
    weights = weight_bytes or header.weight_bytes
    layout = layout_of(header)
    if not layout.width:
        return Fit("unknown", Sentence("The file does not say how large the model's layers are."))
    settled = settle(header, setup, machine, weights)
    memory = memory_of(header, weights, settled, machine)
    reads, writes = predict(header, settled, machine, weights)
    note = "" if writes >= READING_PACE else _slowness(header, settled, layout, memory)
    return Fit(
        *_verdict(memory, settled, machine, layout, note),
        memory,
        memory.needed + memory.gpu,
        machine.free_bytes + sum(device.free_bytes for device in machine.devices),
        settled,
        layout.layers,
        layout.context_tokens,
        reads,
        writes,
    )


def settle(header: Header, setup: Setup, machine: Machine, weight_bytes: int = 0) -> Setup:
    """Returns the setup with layers and context chosen if they are left open."""
    weights = weight_bytes or header.weight_bytes
    layout = layout_of(header)
    setup = _placed(header, setup, machine, weights)
    if setup.context_tokens:
        return setup
    cache_room = min(CACHE_MOST, CACHE_SHARE * _room(machine, setup))

    def fits(tried: Setup) -> bool:
        memory = memory_of(header, weights, tried, machine)
        gpu_cache = memory.gpu if tried.gpu_layers else 0
        if gpu_cache and memory.gpu > _gpu_room(machine, setup):
            return False
        return memory.cache <= cache_room and memory.needed <= COMFORTABLE * machine.free_bytes

    return replace(setup, context_tokens=largest_context(layout, setup, fits, SMALLEST_CONTEXT))


def _room(machine: Machine, setup: Setup) -> int:
    return _gpu_room(machine, setup) if setup.gpu_layers > 0 else machine.free_bytes


def _gpu_room(machine: Machine, setup: Setup) -> int:
    if not machine.engine_uses_gpu:
        return 0
    return sum(max(0, card.free_bytes - GPU_MARGIN) for card in _cards(machine, setup))


def _cards(machine: Machine, setup: Setup) -> tuple[Device, ...]:
    """Returns the chosen card if it exists, else all cards."""
    chosen = machine.devices[setup.main_gpu :][:1] if setup.main_gpu >= 0 else ()
    return chosen or machine.devices


def _placed(header: Header, setup: Setup, machine: Machine, weights: int) -> Setup:
    """Chooses what goes on the card. Experts leave the card before whole layers do."""
    layers = layout_of(header).layers
    experts = layers if header.number("expert_count") else 0
    chosen = replace(setup, cpu_experts=min(max(setup.cpu_experts, 0), experts))
    room = _gpu_room(machine, setup)
    if not room or setup.gpu_layers == 0:
        return replace(chosen, gpu_layers=max(0, setup.gpu_layers), cpu_experts=0)
    context = setup.context_tokens or min(8192, header.context_tokens or 8192)

    def fits(tried: Setup) -> bool:
        tried = replace(tried, context_tokens=context)
        return memory_of(header, weights, tried, machine).gpu <= room

    whole = replace(chosen, gpu_layers=layers + 1 if setup.gpu_layers < 0 else setup.gpu_layers)
    most = experts if setup.cpu_experts < 0 else chosen.cpu_experts
    for count in range(chosen.cpu_experts, most + 1):
        if fits(replace(whole, cpu_experts=count)):
            return replace(whole, cpu_experts=count)
    if setup.gpu_layers > 0:
        return replace(whole, cpu_experts=most)
    fewer = (replace(whole, gpu_layers=count, cpu_experts=most) for count in range(layers, 0, -1))
    return next(filter(fits, fewer), replace(chosen, gpu_layers=0, cpu_experts=0))


def _verdict(
    memory: Memory, setup: Setup, machine: Machine, layout: Layout, note: str
) -> tuple[Verdict, str]:
    free = machine.free_bytes
    short = memory.needed + SYSTEM_MARGIN - free
    card, gpu_short = _shortest_card(memory, setup, machine)
    if memory.gpu and gpu_short > 0:
        return "does not fit", Sentence(
            "{0} lacks {1}: put fewer layers on it.", card, in_gb(gpu_short)
        )
    if short > 0:
        needs = Sentence("It needs {0} and {1} are free", in_gb(memory.needed), in_gb(free))
        if memory.needed + SYSTEM_MARGIN < machine.memory_bytes:
            return "does not fit", Sentence(
                "{0}: close other programs, or choose a smaller model.", needs
            )
        return "does not fit", Sentence(
            "{0}; this machine has {1} in all.", needs, in_gb(machine.memory_bytes)
        )
    where = Sentence("{0} of the {1} free", in_gb(memory.needed), in_gb(free))
    if memory.gpu:
        where = Sentence(
            "{0} on the graphics card, {1} in memory", in_gb(memory.gpu), in_gb(memory.needed)
        )
        if setup.cpu_experts:
            where = Sentence(
                "{0} with the experts of {1} layers on the processor", where, setup.cpu_experts
            )
    if (
        memory.needed > COMFORTABLE * free
        or note
        or setup.context_tokens < min(SMALLEST_CONTEXT * 2, layout.context_tokens)
    ):
        return "tight", in_a_row((Sentence("It takes {0}.", where), note))
    return "runs well", Sentence("It takes {0}.", where)


def _shortest_card(memory: Memory, setup: Setup, machine: Machine) -> tuple[str, int]:
    """Returns the card that lacks the most bytes, and how many; negative means some are left."""
    devices = _cards(machine, setup)
    free = [device.free_bytes for device in devices]
    whole = float(sum(setup.gpu_split))
    if whole and len(devices) > 1 and len(setup.gpu_split) == len(devices):
        shares = [part / whole for part in setup.gpu_split]
        lacks = [int(memory.gpu * share) - has for share, has in zip(shares, free, strict=True)]
        worst = lacks.index(max(lacks))
        return Sentence("{0} (number {1})", devices[worst].name, worst + 1), lacks[worst]
    return Sentence("The graphics card"), memory.gpu - sum(free)


def _slowness(header: Header, setup: Setup, layout: Layout, memory: Memory) -> str:
    experts, used = header.number("expert_count"), header.number("expert_used_count")
    active = memory.weights * (max(0.15, used / experts) if experts and used else 1.0)
    if active <= SLOW_BYTES:
        return ""
    if setup.gpu_layers and memory.gpu:
        return Sentence(
            "{0} of {1} layers on the card: the rest is slow.", setup.gpu_layers, layout.layers
        )
    return Sentence("Without a graphics card it will write slowly.")


def ladder(header: Header, setup: Setup, machine: Machine) -> Iterator[Setup]:
    """Yields setups that need less and less memory, starting with the requested one."""
    seen: set[Setup] = set()
    current = settle(header, setup, machine)
    mixture = layout_of(header).layers if header.number("expert_count") else 0
    for rung in _rungs(current, mixture):
        if rung not in seen:
            seen.add(rung)
            yield rung


def _rungs(current: Setup, mixture: int) -> Iterator[Setup]:
    """`mixture` is the number of layers with experts. Experts leave the card before layers do."""
    yield current
    if current.gpu_layers > 0 and current.cpu_experts < mixture:
        for experts in ((current.cpu_experts + mixture) // 2, mixture):
            current = replace(current, cpu_experts=experts)
            yield current
    while current.gpu_layers > 0:
        current = replace(current, gpu_layers=current.gpu_layers * 3 // 4)
        current = replace(current, cpu_experts=current.cpu_experts if current.gpu_layers else 0)
        yield current
    yield from _less_context(current, 8192)
    current = replace(current, context_tokens=min(current.context_tokens, 8192))
    for kv_type in _smaller_types(current.kv_type)[:1]:
        current = replace(current, kv_type=kv_type)
        yield current
    while current.slots > 1:
        current = replace(current, slots=max(1, current.slots // 2))
        yield current
    yield from _less_context(current, LAST_CONTEXT)
    current = replace(current, context_tokens=min(current.context_tokens, LAST_CONTEXT))
    yield replace(current, batch_tokens=min(current.batch_tokens, 128))


def _less_context(setup: Setup, least: int) -> Iterator[Setup]:
    tokens = setup.context_tokens
    while tokens > least:
        tokens = max(least, tokens // 2)
        yield replace(setup, context_tokens=tokens)


def _smaller_types(kv_type: KvType) -> tuple[KvType, ...]:
    order: tuple[KvType, ...] = ("f16", "q8_0", "q4_0")
    return order[order.index(kv_type) + 1 :]


def explain(asked: Setup, taken: Setup) -> str:
    """Says in one sentence what is smaller than requested; empty if nothing is."""
    changes = []
    if asked.context_tokens and taken.context_tokens != asked.context_tokens:
        changes.append(
            Sentence(
                "{0} tokens of context instead of {1}", taken.context_tokens, asked.context_tokens
            )
        )
    if taken.gpu_layers != asked.gpu_layers and asked.gpu_layers >= 0:
        changes.append(Sentence("{0} layers on the graphics card", taken.gpu_layers))
    if taken.cpu_experts > max(0, asked.cpu_experts):
        changes.append(Sentence("the experts of {0} layers on the processor", taken.cpu_experts))
    if taken.slots != asked.slots:
        changes.append(
            Sentence("{0} answers at the same time instead of {1}", taken.slots, asked.slots)
        )
    if taken.kv_type != asked.kv_type:
        changes.append(Sentence("a {0} cache", taken.kv_type))
    if not changes:
        return ""
    return Sentence("There was not enough memory, so the model runs with {0}.", listed(changes))


def without_card(asked: Setup, taken: Setup, machine: Machine, last_card: str) -> str:
    """Says in one sentence why a model runs on the processor although a card was expected."""
    if asked.gpu_layers == 0 or machine.note:
        return machine.note if asked.gpu_layers else ""
    if machine.devices and machine.engine_uses_gpu:
        card = machine.devices[0]
        if taken.gpu_layers > 0:
            return Sentence("The engine did not put it on {0}; the log says why.", card.name)
        return Sentence("{0} has only {1} free.", card.name, in_gb(card.free_bytes))
    if last_card:
        return Sentence(
            "{0}, used before, was not found: check its driver, or restart the computer.", last_card
        )
    return (
        Sentence("There is no graphics card that the engine can use.")
        if asked.gpu_layers > 0
        else ""
    )


MORE_ROOM = 1.2
"""The requested setup is tried again if this many times the free memory of that time is free."""
CARD = "card"
MISSED_S = 90 * 86400.0
"""Seconds (90 days) after which a missing card is no longer mentioned."""


class RememberedSetups:
    """The setups that models were loaded with, kept by model, machine and cards."""

    def __init__(self, path: Path) -> None:
        self._file = JsonFile(path, "The setups that worked")

    def recall(self, model: Path, asked: Setup, machine: Machine) -> Setup | None:
        entry = self._file.read().get(_key(model, machine))
        if not isinstance(entry, dict) or entry.get("asked") != _plain(asked):
            return None
        if _free(machine) > MORE_ROOM * entry.get("free_bytes", 0):
            return None
        try:
            found = {**entry["worked"], "gpu_split": tuple(entry["worked"]["gpu_split"])}
            return Setup(**found)
        except (TypeError, LookupError):
            return None

    def remember(self, model: Path, asked: Setup, worked: Setup, machine: Machine) -> None:
        found = self._file.read()
        found[_key(model, machine)] = {
            "asked": _plain(asked),
            "worked": _plain(worked),
            "free_bytes": _free(machine),
        }
        self._file.write(found)

    def last_card(self, machine: Machine) -> str:
        """Returns the card that was used lately and is missing now; remembers the current card."""
        found = self._file.read()
        known: Any = found.get(CARD)
        known = known if isinstance(known, dict) else {}
        if machine.devices:
            if machine.engine_uses_gpu and known.get("name") != machine.devices[0].name:
                self._file.write(
                    {**found, CARD: {"name": machine.devices[0].name, "at": time.time()}}
                )
            return ""
        is_recent = time.time() - float(known.get("at", 0)) < MISSED_S
        return str(known.get("name", "")) if is_recent else ""


def _plain(setup: Setup) -> dict[str, Any]:
    """Returns the setup as it looks after a round trip through JSON."""
    return {**asdict(setup), "gpu_split": list(setup.gpu_split)}


def _free(machine: Machine) -> int:
    return machine.free_bytes + sum(device.free_bytes for device in machine.devices)


def _key(model: Path, machine: Machine) -> str:
    size = model.stat().st_size if model.exists() else 0
    cards = ",".join(device.name for device in machine.devices)
    return f"{model.name}:{size}:{machine.memory_bytes}:{cards}"


DEPTH = 512
"""Tokens of a typical prompt."""
OPERATIONS = 24
"""Operations of a layer in llama.cpp's graphs: norms, products, rotations, sums, the cache."""
EMBEDDING, HEAD = "token_embd.weight", "output.weight"
BITS = {form.name: 8 * form.block_bytes / form.block for form in FORMATS.values()}
USUAL = "Q4_K"


@dataclass(frozen=True, slots=True)
class WeightPart:
    """Rows of one format and length. `is_head`: only the last token of a prompt needs them."""

    form: str
    rows: float
    values: float
    """The values of a row."""
    is_head: bool = False


def predict(header: Header, setup: Setup, machine: Machine, weights: int) -> tuple[float, float]:
    """Returns tokens per second, read and written; zeros if unknown, as on a graphics card."""
    pace, layout = machine.pace, layout_of(header)
    if not pace.rates or setup.gpu_layers > 0 or not layout.width:
        return 0.0, 0.0
    steps_s = layout.layers * OPERATIONS * pace.step_s
    read_s, write_s = steps_s / DEPTH, steps_s
    for part in _parts(header, weights):
        write_s += part.rows * _once_s(pace, part)
        read_s += 0.0 if part.is_head else part.rows * _each_s(pace, part)
    # A prompt is read in one go: attention computes all pairs, also those that it then masks. What
    # is written comes after the whole prompt.
    for part in _attended(layout, DEPTH):
        read_s += part.rows * _each_s(pace, part)
        write_s += part.rows * _once_s(pace, part)
    return 1 / read_s, 1 / write_s


def _once_s(pace: Pace, part: WeightPart) -> float:
    """Returns the seconds that a row takes to be read from memory and multiplied with one word."""
    rate = _rate(pace, part.form)
    seconds = _between(rate, part.values, rate.short.once_s, rate.long.once_s)
    return seconds * BITS[part.form] / BITS[rate.form]


def _each_s(pace: Pace, part: WeightPart) -> float:
    """Returns the seconds that a row takes to be multiplied with each of many words."""
    rate = _rate(pace, part.form)
    return _between(rate, part.values, rate.short.each_s, rate.long.each_s)


def _between(rate: Rate, values: float, short_s: float, long_s: float) -> float:
    """Returns the seconds for a row of this length, from those for a short and a long row."""
    share = (values - rate.short.values) / (rate.long.values - rate.short.values)
    # A short row takes at least its share of a long one; a disturbed measurement may say less.
    return max(short_s + share * (long_s - short_s), long_s * values / rate.long.values)


def _rate(pace: Pace, form: str) -> Rate:
    """Returns the pace of that format, or of the measured format with the most similar size."""
    return min(pace.rates, key=lambda rate: (rate.form != form, abs(BITS[rate.form] - BITS[form])))


def _attended(layout: Layout, depth: int) -> Iterator[WeightPart]:
    """Yields what attention multiplies for a token: all keys before it, then all values.

    The values are kept in columns, so that their rows are as long as the text before the token.
    """
    layers = sum(width > 0 for width in layout.cache_widths)
    yield WeightPart("F16", layers * layout.heads * depth, layout.width / layout.heads)
    yield WeightPart("F16", layers * layout.width, depth)


def _parts(header: Header, weights: int) -> Iterator[WeightPart]:
    if not header.tensors or weights != header.weight_bytes:
        yield from _guess_parts(header, weights)
        return
    experts, used = header.number("expert_count"), header.number("expert_used_count")
    is_shared = all(tensor.name != HEAD for tensor in header.tensors)
    for tensor in header.tensors:
        if len(tensor.shape) < 2 or (tensor.name == EMBEDDING and not is_shared):
            continue  # rows are only looked up in it, nothing is multiplied
        share = used / experts if experts and EXPERTS.match(tensor.name) else 1.0
        is_head = tensor.name in (HEAD, EMBEDDING)
        rows = tensor.values / tensor.shape[0] * share
        yield WeightPart(FORMATS[tensor.format_id].name, rows, tensor.shape[0], is_head)


def _guess_parts(header: Header, weights: int) -> Iterator[WeightPart]:
    """Estimates the parts from sizes alone: nothing else is known of a file on the hub."""
    layout = layout_of(header)
    form = _form(header, weights)
    values = weights * 8 / BITS[form]
    head = layout.vocabulary * layout.width
    yield WeightPart(form, layout.vocabulary, layout.width, is_head=True)
    attention = layout.layers * 4 * layout.width**2
    rest = max(0.0, values - head - attention)
    experts, used = header.number("expert_count"), header.number("expert_used_count")
    computed = attention + rest * (used / experts if experts else 1.0)
    yield WeightPart(form, computed / layout.width, layout.width)


def _form(header: Header, weights: int) -> str:
    """Returns the format that matches the size of the weights, or the one the file names."""
    if header.parameters:
        bits = 8 * weights / header.parameters
        return min(BITS, key=lambda form: abs(BITS[form] - bits))
    named = header.quantisation.rpartition("_")[0]
    return next((form for form in (header.quantisation, named) if form in BITS), USUAL)
