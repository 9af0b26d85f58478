"""RunAgentInput, checked and read into a request to an agent."""

from dataclasses import dataclass
from typing import Any

from server.chat import Json, Tool, ToolChoice
from server.conversation.agents.base import AgentRequest, Answer
from server.protocols.agui import messages
from server.protocols.base import Facts
from server.protocols.fields import BIGGEST, Fields, sendable


@dataclass(frozen=True, slots=True)
class RunInput:
    """The request, and what its encoder must know of it besides."""

    request: AgentRequest
    body: Json
    has_own_route: bool = False
    """It came to the route of its agent, not to the one address for everything."""

    @property
    def speaks_1_0(self) -> bool:
        return "protocolVersion" in self.body

    @property
    def knows_reasoning(self) -> bool:
        """Whether its client reads REASONING_* events. CopilotKit 1.50 and 1.51 break at them.

        No field of a body tells 1.51 from 1.52. Pages up to 1.68 use the one address unless told
        otherwise, and none of them shows reasoning; later ones, and those of the v2 provider, use
        the agent's own route. Who sends thoughts back has read them.
        """
        roles = [one.get("role") for one in self.body["messages"] if isinstance(one, dict)]
        return self.speaks_1_0 or self.has_own_route or "reasoning" in roles


def read(body: Any, agent: str, facts: Facts, *, is_kept: bool = True) -> RunInput:
    fields = Fields(body)
    thread_id, run_id = fields.some_text("threadId"), fields.some_text("runId")
    if fields.value("messages") is None:
        raise fields.wrong("messages", "is missing")
    said = messages.read(fields.list("messages"))
    forwarded = fields.value("forwardedProps")
    props = Fields(forwarded if isinstance(forwarded, dict) else {}, "forwardedProps")
    state = fields.value("state")
    request = AgentRequest(
        agent,
        thread_id,
        run_id,
        said,
        tools=tuple(_tool(Fields(one, "tools")) for one in fields.list("tools")),
        tool_choice=_tool_choice(props.value("toolChoice")),
        context=tuple(_context(Fields(one, "context")) for one in fields.list("context")),
        state=state if isinstance(state, dict) else None,
        answer=_answer(fields, props),
        model=_model(props, facts),
        temperature=_temperature(props.value("temperature")),
        max_tokens=_whole(props.value("maxOutputTokens")),
        is_kept=is_kept,
        client=facts.origin or facts.headers.get("user-agent", ""),
        origin=facts.origin,
        is_own=facts.is_own,
    )
    return RunInput(request, fields.body, has_own_route="agent" in facts.path)


def _tool(fields: Fields) -> Tool:
    parameters = fields.value("parameters")
    if not isinstance(parameters, dict):
        parameters = {"type": "object", "properties": {}}
    return Tool(fields.some_text("name"), fields.text("description") or "", sendable(parameters))


def _context(fields: Fields) -> tuple[str, str]:
    return fields.text("description") or "", fields.text("value") or ""


def _tool_choice(choice: Any) -> ToolChoice:
    if choice in ("none", "required"):
        return ToolChoice(choice)
    if isinstance(choice, dict):
        function = choice.get("function")
        name = function.get("name") if isinstance(function, dict) else choice.get("toolName")
        if isinstance(name, str):
            return ToolChoice("required", (name,))
    return ToolChoice()


def _answer(fields: Fields, props: Fields) -> Answer | None:
    """Either generation's way to answer an interrupt."""
    for entry in fields.list("resume"):
        one = Fields(entry, "resume")
        if one.text("status") != "cancelled":
            return Answer(one.value("payload"))
        return Answer(None)
    command = props.value("command")
    if isinstance(command, dict) and "resume" in command:
        return Answer(command["resume"])
    return None


def _model(props: Fields, facts: Facts) -> str | None:
    """A page's own properties ride here too: only the name of a model we have is one."""
    name = props.value("model")
    known = {card.name for card in facts.models}
    return name if isinstance(name, str) and name in known else None


def _temperature(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and 0 <= value <= 2 else None


def _whole(value: Any) -> int | None:
    return value if type(value) is int and 0 < value <= BIGGEST else None
