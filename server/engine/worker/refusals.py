"""What the worker refuses, as it travels to the server: an error's code, sentence and facts."""

from typing import Any


class Refused(Exception):
    """`code` is one of the codes in server.errors."""

    def __init__(self, code: str, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.code = code
        self.facts = facts


def too_long(needed: int, available: int) -> Refused:
    return Refused(
        "context_length_exceeded",
        f"The prompt has {needed} tokens; the model has room for {available}.",
        needed=needed,
        available=available,
        context=available + 1,
    )
