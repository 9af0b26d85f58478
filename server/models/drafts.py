"""A second, smaller model guesses ahead: what it adds to the memory of the first."""

from dataclasses import replace
from pathlib import Path

from server.face.models import Setup
from server.models.gguf.cache import Headers
from server.models.gguf.plausible import defect
from server.models.memory import layout_of
from server.models.projectors import size_of
from server.settings import ModelSettings


def in_use(settings: ModelSettings) -> Path | None:
    """None where nothing is guessed: a model that guesses for nobody takes no memory."""
    return Path(settings.draft_model) if settings.speculate and settings.draft_model else None


def beside(setup: Setup, draft: Path | None, headers: Headers) -> Setup:
    """The setup with the draft model; without where there is none that can be read."""
    header = headers.peek(draft) if draft is not None else None
    if header is None or defect(header):
        return setup
    layout = layout_of(header)
    return replace(
        setup,
        draft_bytes=size_of([str(draft)]),
        draft_width=sum(layout.cache_widths),
        draft_heads=layout.heads,
    )
