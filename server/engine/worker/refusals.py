"""What the worker refuses, as it travels to the server: an error's code, sentence and facts."""

from typing import Any


class Refused(Exception):
    """`code` is one of the codes in server.errors."""

    def __init__(self, code: str, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.code = code
        self.facts = facts
