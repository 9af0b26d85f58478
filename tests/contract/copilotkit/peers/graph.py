"""A real LangGraph graph: counts, streams an answer, asks a person, calls a page's action."""

from typing import Annotated, Any, TypedDict

from copilotkit.langgraph import copilotkit_interrupt
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import interrupt


class State(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    count: int
    copilotkit: dict[str, Any]


def count(state: State) -> State:
    return {"count": state.get("count", 0) + 1}


def answer(state: State) -> State:
    last = state["messages"][-1]
    if isinstance(last, ToolMessage):
        return {"messages": [AIMessage(f"The page said {last.content}")]}
    if "FAIL" in last.content:
        raise RuntimeError("the graph broke")
    if "KITASK" in last.content:
        told, _ = copilotkit_interrupt(message="Which colour?")
        return {"messages": [AIMessage(f"It is {told}.")]}
    if "KITACT" in last.content:
        told, _ = copilotkit_interrupt(action="sayHello", args={"name": "Ada"})
        return {"messages": [AIMessage(f"The page answered {told}.")]}
    if "INTERRUPT" in last.content:
        said = interrupt({"ask": "may I?"})
        return {"messages": [AIMessage(f"You said {said}.")]}
    if "CALL" in last.content:
        name = state["copilotkit"]["actions"][0]["name"]
        call = {"id": "call-1", "name": name, "args": {"name": "Ada"}}
        return {"messages": [AIMessage("", tool_calls=[call])]}
    model = GenericFakeChatModel(messages=iter([AIMessage(f"Counted to {state['count']}.")]))
    return {"messages": [model.invoke(state["messages"])]}


builder = StateGraph(State)
builder.add_node("count", count)
builder.add_node("answer", answer)
builder.add_edge(START, "count")
builder.add_edge("count", "answer")
builder.add_edge("answer", END)
graph = builder.compile()
