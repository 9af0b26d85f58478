"""What the scheduler has done so far, for the stats page and the bench."""

from dataclasses import dataclass


@dataclass(slots=True)
class Counters:
    steps: int = 0
    decode_s: float = 0.0
    choose_s: float = 0.0
    whole_s: float = 0.0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    pictures: int = 0
    encode_s: float = 0.0
    drafted_tokens: int = 0
    accepted_tokens: int = 0
    answers: int = 0
    cancelled: int = 0
    refused: int = 0
    cache_full: int = 0
