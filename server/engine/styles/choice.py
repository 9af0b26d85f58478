"""Which tools a request lets the model call, and how many at once."""

from server.chat import ChatRequest, Tool

MOST_CALLS = 8


def callable_tools(request: ChatRequest) -> tuple[Tool, ...]:
    names = request.tool_choice.names
    return tuple(tool for tool in request.tools if not names or tool.name in names)


def most_calls(request: ChatRequest) -> int:
    return 1 if request.takes_one_call else MOST_CALLS


def wants_tools(request: ChatRequest) -> bool:
    return bool(callable_tools(request)) and request.tool_choice.mode != "none"
