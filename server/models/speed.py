"""How fast a model would be here, from its header and the pace that was measured once.

A model writes a token by reading its weights, and reads a prompt by multiplying them with many
tokens at once. Each number format has its own pace: what the processor must do to unpack it is
often slower than the memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from server.face.models import Machine, Pace, Rate, Setup
from server.models.gguf.header import FORMATS, Header
from server.models.memory import EXPERTS, layout_of

DEPTH = 512
"""The tokens of a usual prompt; on average half of them have been read."""
STEPS, AROUND_TOKEN = 270, 6300
"""What the small operations of a layer cost, and what the worker does around each token: in the
smallest steps of the engine, as they were seen in models of three sizes."""
EMBEDDING, HEAD = "token_embd.weight", "output.weight"
BITS = {form.name: 8 * form.block_bytes / form.block for form in FORMATS.values()}
USUAL = "Q4_K"


@dataclass(frozen=True, slots=True)
class Part:
    """Weights of one format. `is_head`: they are needed for the last token of a prompt only."""

    form: str
    values: float
    is_head: bool = False


def predict(header: Header, setup: Setup, machine: Machine, weights: int) -> tuple[float, float]:
    """Tokens per second, read and written. Zeros where nothing is known: a card is not measured."""
    pace, layout = machine.pace, layout_of(header)
    if not pace.rates or setup.gpu_layers > 0 or not layout.width:
        return 0.0, 0.0
    parts = list(_parts(header, weights))
    attended = 2 * DEPTH / 2 * layout.width * layout.layers
    kept = DEPTH / 2 * sum(layout.cache_widths)
    half = _rate(pace, "F16")
    small_s = layout.layers * STEPS * pace.step_s
    read_s = attended / half.values_per_s + small_s / DEPTH
    write_s = kept * 2 / half.bytes_per_s + small_s + AROUND_TOKEN * pace.step_s
    for part in parts:
        rate = _rate(pace, part.form)
        write_s += part.values * BITS[part.form] / 8 / rate.bytes_per_s
        read_s += 0.0 if part.is_head else part.values / rate.values_per_s
    return 1 / read_s, 1 / write_s


def _rate(pace: Pace, form: str) -> Rate:
    """The pace of that format, or of the one most like it among those that were measured."""
    return min(pace.rates, key=lambda rate: (rate.form != form, abs(BITS[rate.form] - BITS[form])))


def _parts(header: Header, weights: int) -> Iterator[Part]:
    if not header.tensors or weights != header.weight_bytes:
        yield from _guess_parts(header, weights)
        return
    experts, used = header.number("expert_count"), header.number("expert_used_count")
    is_shared = all(tensor.name != HEAD for tensor in header.tensors)
    for tensor in header.tensors:
        if len(tensor.shape) < 2 or (tensor.name == EMBEDDING and not is_shared):
            continue  # a row of it is looked up, nothing is multiplied
        share = used / experts if experts and EXPERTS.match(tensor.name) else 1.0
        is_head = tensor.name in (HEAD, EMBEDDING)
        yield Part(FORMATS[tensor.format_id].name, tensor.values * share, is_head)


def _guess_parts(header: Header, weights: int) -> Iterator[Part]:
    """From the sizes alone: of a file elsewhere nothing else is known."""
    layout = layout_of(header)
    form = _form(header, weights)
    values = weights * 8 / BITS[form]
    head = layout.vocabulary * layout.width
    yield Part(form, head, is_head=True)
    attention = layout.layers * 4 * layout.width**2
    rest = max(0.0, values - head - attention)
    experts, used = header.number("expert_count"), header.number("expert_used_count")
    yield Part(form, attention + rest * (used / experts if experts else 1.0))


def _form(header: Header, weights: int) -> str:
    """The format whose size fits the weights; without any tensors the one that the file names."""
    if header.parameters:
        bits = 8 * weights / header.parameters
        return min(BITS, key=lambda form: abs(BITS[form] - bits))
    named = header.quantisation.rpartition("_")[0]
    return next((form for form in (header.quantisation, named) if form in BITS), USUAL)
