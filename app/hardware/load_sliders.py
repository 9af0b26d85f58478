"""The sliders that say how a model is loaded: what each offers, and its values in words."""

from collections.abc import Sequence
from typing import Any

from app.look.slider import Slider
from app.look.translate import tr

KV_TYPES = ("f16", "q8_0", "q4_0")
BATCHES = (128, 256, 512, 1024, 2048, 4096)
FLASH: dict[str, bool | None] = {"auto": None, "on": True, "off": False}
"""The setting's words, and what they mean for the engine."""
FIRST_PARTS = (9.0, 3.0, 2.0, 1.0, 0.5, 0.25)
"""Of the first card, for one part of each other."""
LEAST_CONTEXT = 2048
MOST_CONTEXT = 131_072


def build() -> dict[str, Slider]:
    """By the names of the settings, in the order they are shown."""
    automatic = tr("Automatic")
    return {
        "context_tokens": Slider(
            tr("Context"),
            lambda value: tr("{tokens} tokens").format(tokens=f"{value:,}") if value else automatic,
            tr("How much it can read and write at once."),
        ),
        "gpu_layers": Slider(
            tr("Layers on the graphics card"),
            lambda value: automatic if value < 0 else str(value),
        ),
        "gpu_split": Slider(
            tr("Split across the graphics cards"), lambda value: split_words(value) or automatic
        ),
        "kv_type": Slider(
            tr("Precision of the context"),
            lambda value: {"f16": tr("Full"), "q8_0": tr("Half the memory")}.get(
                value, tr("A quarter of the memory")
            ),
        ),
        "slots": Slider(tr("Answers at the same time"), str),
        "threads": Slider(
            tr("Processor threads"), lambda value: str(value) if value else automatic
        ),
        "batch_tokens": Slider(
            tr("Tokens read in one step"),
            lambda value: tr("{tokens} tokens").format(tokens=f"{value:,}"),
            tr("More reads long prompts faster on a graphics card and takes more memory."),
        ),
        "flash_attention": Slider(
            tr("Flash attention"),
            lambda value: {"on": tr("On"), "off": tr("Off")}.get(value, automatic),
        ),
    }


def contexts(trained: int) -> list[int]:
    """Automatic, then doublings up to what the model was trained for."""
    most = trained or MOST_CONTEXT
    found = [0]
    step = LEAST_CONTEXT
    while step < most:
        found.append(step)
        step *= 2
    return [*found, most]


def splits(cards: int) -> list[tuple[float, ...]]:
    """Automatic, then from mostly on the first card to mostly on the others."""
    others = (1.0,) * (cards - 1)
    return [(), *((first, *others) for first in FIRST_PARTS if others)]


def including(values: Sequence[Any], *own: Any) -> list[Any]:
    """What is set or chosen is always among them: numbers in their order, others at the end."""
    missing = [one for one in dict.fromkeys(own) if one not in values]
    found = [*values, *missing]
    return sorted(found) if missing and isinstance(missing[0], int) else found


def split_words(value: Any) -> str:
    whole = sum(value) or 1.0
    return " : ".join(f"{share / whole:.0%}" for share in value)
