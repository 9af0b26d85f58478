"""What the worker refuses, as it travels to the server: an error's code, sentence and facts."""

from typing import Any


class Refused(Exception):
    """`code` is one of the codes in server.errors."""

    def __init__(self, code: str, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.code = code
        self.facts = facts


def too_long(needed: int, available: int, *, is_certain: bool = True) -> Refused:
    """`is_certain`: they were counted; else the beginning was, and the rest is estimated."""
    about = "" if is_certain else "about "
    return Refused(
        "context_length_exceeded",
        f"The prompt has {about}{needed} tokens; the model has room for {available}.",
        needed=needed,
        available=available,
        context=available + 1,
        is_certain=is_certain,
    )
