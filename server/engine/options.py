"""What the settings mean for the engine, and the conversations it may keep on disk."""

import shutil
from pathlib import Path
from typing import Literal

from server.engine.base import EngineOptions
from server.engine.pool import PoolLimits
from server.models import memory
from server.settings import ModelSettings
from server.sizes import MB

ALL_LAYERS = 999
ANY_QUEUE = 1 << 16
"""A request is admitted on arrival (`Requests`), not by the worker later."""


def limits_of(settings: ModelSettings) -> PoolLimits:
    return PoolLimits(settings.idle_unload_min * 60.0, settings.memory_budget_mb * MB)


class OptionsOf:
    """Returns the options to load a model with, for these settings."""

    def __init__(self, kept_conversations: Path) -> None:
        self._kept_conversations = kept_conversations

    def __call__(self, settings: ModelSettings) -> EngineOptions:
        return EngineOptions(
            context_tokens=settings.context_tokens or None,
            slots=settings.slots,
            threads=settings.threads or None,
            batch_tokens=settings.batch_tokens,
            gpu_layers=ALL_LAYERS if settings.gpu_layers < 0 else settings.gpu_layers,
            gpu_split=settings.gpu_split,
            main_gpu=settings.main_gpu,
            kv_offload=settings.kv_offload,
            cpu_experts=settings.cpu_experts,
            device_sampling=_choice(settings.device_sampling),
            kv_type=settings.kv_type,
            flash_attention=_choice(settings.flash_attention),
            prompt_cache_mb=settings.prompt_cache_mb,
            prompt_disk_mb=settings.prompt_disk_mb,
            prompt_folder=self._kept_conversations if settings.prompt_disk_mb else None,
            speculate=settings.speculate,
            draft_model=memory.in_use(settings),
            loras=tuple(Path(path) for path in settings.loras),
            queue_limit=ANY_QUEUE,
            tool_signatures=settings.tool_signatures,
        )

    def forget(self, settings: ModelSettings) -> None:
        """Removes what the user no longer wants to keep."""
        if not settings.prompt_disk_mb:
            shutil.rmtree(self._kept_conversations, ignore_errors=True)


def _choice(wanted: Literal["auto", "on", "off"]) -> bool | None:
    return None if wanted == "auto" else wanted == "on"
