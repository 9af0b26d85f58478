"""All errors that a person or a client may see: a sentence, a code and an HTTP status."""

from typing import Any, Literal

from server.sentences import Sentence

MOST_CAUSES = 5


class AppError(Exception):
    """An error for people and clients. Its message is a sentence."""

    code = "internal_error"
    status = 500
    retry_after_s: int | None = None
    param: str | None = None
    known_details = ""
    """The details of an error that came from another process."""

    @property
    def details(self) -> str:
        """The technical details: its code and its causes. Empty if there is nothing more."""
        if self.known_details:
            return self.known_details
        causes = describe_causes(self.__cause__)
        has_name = self.code not in (AppError.code, BadRequest.code)
        return "\n".join([self.code, *causes]) if causes or has_name else ""


def describe_causes(error: BaseException | None) -> list[str]:
    """Returns a line for an error and each of its causes: its type and its message."""
    found: list[str] = []
    while error is not None and len(found) < MOST_CAUSES:
        found.append(f"{type(error).__name__}: {error}".removesuffix(": "))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return found


class BadRequest(AppError):
    code = "invalid_request"
    status = 400

    def __init__(self, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.param = param


class BadSchema(BadRequest):
    code = "invalid_schema"


class ContextOverflow(AppError):
    code = "context_length_exceeded"
    status = 400

    def __init__(
        self,
        needed: int,
        available: int,
        context: int | None = None,
        *,
        is_certain: bool = True,
    ) -> None:
        """`context` is the room for prompt and answer together, if that is more than `available`.

        `is_certain` says whether `needed` was counted; otherwise it is an estimate.
        """
        # LiteLLM and others recognise an overflow by OpenAI's first words.
        counted = needed if is_certain else Sentence("about {0}", needed)
        super().__init__(
            Sentence(
                "This model's maximum context length is {0} tokens. "
                "However, the prompt has {1} tokens. Please shorten it.",
                context or available,
                counted,
            )
        )
        self.needed = needed
        self.available = available


class TemplateRefused(AppError):
    """The model's chat template failed, ran too long or took too much memory."""

    code = "template_failed"
    status = 422


class ModelNotFound(AppError):
    code = "model_not_found"
    status = 404
    param = "model"

    def __init__(self, name: str, installed: tuple[str, ...]) -> None:
        known = ", ".join(installed) if installed else Sentence("none")
        super().__init__(Sentence("There is no model '{0}' here. Installed: {1}.", name, known))
        self.name = name


class NoModel(AppError):
    code = "no_model"
    status = 503

    def __init__(self) -> None:
        super().__init__(
            Sentence("No model is installed. Open Moat and pick one on the Models page.")
        )


class ModelLoadFailed(AppError):
    code = "model_load_failed"
    status = 503


class ModelNotUsed(ModelLoadFailed):
    """A model that was to replace the one in use could not be loaded."""

    code = "model_not_used"

    def __init__(self, name: str, reason: str, old: str) -> None:
        super().__init__(
            Sentence("{0} could not be loaded: {1} {2} stays the default model.", name, reason, old)
        )


class OutOfMemory(ModelLoadFailed):
    """The model did not get the memory it needs. It may load with a smaller setup."""

    code = "out_of_memory"


class ModelDamaged(ModelLoadFailed):
    """Our own reader refused the file; native code never saw it."""

    code = "model_damaged"
    status = 422

    def __init__(self, name: str, defect: str) -> None:
        super().__init__(Sentence("{0} is damaged: {1}.", name, defect))
        self.defect = defect


class EngineCrashed(AppError):
    code = "engine_crashed"
    status = 502


class Busy(AppError):
    code = "server_busy"
    status = 429
    retry_after_s = 2

    def __init__(self, waiting: int) -> None:
        super().__init__(
            Sentence("The queue is full ({0} requests wait). Try again shortly.", waiting)
        )
        self.waiting = waiting


class KeyRefused(AppError):
    """A named key does not permit the request."""

    status = 403


class KeyRevoked(KeyRefused):
    code = "invalid_api_key"
    status = 401

    def __init__(self) -> None:
        super().__init__(Sentence("This key was revoked. Ask whoever runs this Moat for another."))


class KeyForbids(KeyRefused):
    code = "model_not_allowed"
    param = "model"

    def __init__(self, name: str, model: str, allowed: tuple[str, ...]) -> None:
        may = ", ".join(allowed)
        super().__init__(
            Sentence(
                "The key '{0}' may not use the model '{1}'. It may use: {2}.", name, model, may
            )
        )


class KeyMayNot(KeyRefused):
    code = "not_allowed"

    def __init__(self, name: str, what: str) -> None:
        super().__init__(Sentence("The key '{0}' may not {1}.", name, what))


class KeyBusy(KeyRefused):
    code = "rate_limit_exceeded"
    status = 429
    retry_after_s = 2

    def __init__(self, name: str, at_once: int) -> None:
        super().__init__(
            Sentence(
                "The key '{0}' may have {1} requests at a time, and they are under way. "
                "Try again shortly.",
                name,
                at_once,
            )
        )


class KeySpent(KeyRefused):
    code = "insufficient_quota"
    status = 429

    def __init__(self, name: str, tokens: int, left_s: int) -> None:
        super().__init__(
            Sentence(
                "The key '{0}' has used its {1} tokens of today. It can go on at midnight UTC.",
                name,
                tokens,
            )
        )
        self.retry_after_s = left_s


class Stopping(AppError):
    code = "server_stopping"
    status = 503
    retry_after_s = 5

    def __init__(self) -> None:
        super().__init__(Sentence("Moat is shutting down."))


class NotSupported(AppError):
    """Trying again will not help, so clients do not retry its status."""

    code = "not_supported"
    status = 400


class EgressRefused(AppError):
    code = "egress_refused"
    status = 403


class RedirectRefused(EgressRefused):
    """A server redirects to a place that is not allowed."""


class AnswerTooLong(AppError):
    """Another server's answer is longer than any valid one."""

    code = "answer_too_long"
    status = 502


class HubFailed(AppError):
    """The model hub did not answer as expected. Trying again may help."""

    code = "hub_failed"
    status = 502


class HubRefused(HubFailed):
    """The hub refuses the file. Trying again will not help."""

    code = "hub_refused"
    status = 403


class HubGated(HubRefused):
    """The model's authors require that their terms are accepted first."""

    code = "hub_gated"


class HubDisabled(HubRefused):
    """The hub itself has disabled the repository."""

    code = "hub_disabled"
    status = 451


class HubMissing(HubRefused):
    code = "hub_missing"
    status = 404


class DiskFailed(AppError):
    """The disk cannot be written. Waiting will not help."""

    code = "disk_failed"
    status = 500


class DiskFull(DiskFailed):
    """The disk is full. Freeing space helps."""

    code = "disk_full"
    status = 507


class PortTaken(AppError):
    code = "port_taken"
    status = 500


class LinkLost(AppError):
    code = "link_lost"
    status = 503

    def __init__(self) -> None:
        super().__init__(Sentence("The server does not respond."))


Fault = Literal[
    "template", "slot_missing", "slot_invalid", "http_status", "http_connect", "timeout", "denied",
    "sql", "lib_crash", "mcp_error", "too_large", "loop_limit", "not_found", "internal",
]  # fmt: skip


class FlowFailed(AppError):
    """A step of a flow failed. `fault` tells programs why, the text tells people."""

    code = "flow_failed"
    status = 502

    def __init__(self, fault: Fault, message: str, detail: Any = None) -> None:
        super().__init__(message)
        self.fault = fault
        self.detail = detail
