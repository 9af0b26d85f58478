"""Serves a real CopilotKit remote endpoint, made with its own SDK: two actions and an agent."""

import sys
from typing import Any

import uvicorn
from copilotkit import Action, Agent, CopilotKitRemoteEndpoint
from copilotkit.integrations.fastapi import add_fastapi_endpoint
from copilotkit.protocol import (
    RuntimeMetaEventName,
    action_execution_args,
    action_execution_end,
    action_execution_start,
    agent_state_message,
    emit_runtime_event,
    meta_event,
    text_message_content,
    text_message_end,
    text_message_start,
)
from fastapi import FastAPI

STATES: dict[str, dict[str, Any]] = {}


class Greeter(Agent):
    def dict_repr(self) -> dict[str, Any]:
        return {**super().dict_repr(), "type": "crewai"}

    async def execute(self, *, state, messages, thread_id, actions, meta_events=None, **_):
        seen = STATES[thread_id] = {"seen": state.get("seen", 0) + 1}
        yield emit_runtime_event(self._state(thread_id, seen, active=True))
        answers = [event["response"] for event in meta_events or () if event.get("response")]
        last = messages[-1].get("content", "")
        if "INTERRUPT" in last and not answers:
            name = RuntimeMetaEventName.LANG_GRAPH_INTERRUPT_EVENT
            yield emit_runtime_event(meta_event(name=name, value='{"ask": "may I?"}'))
        elif "CALL" in last:
            start = action_execution_start(
                action_execution_id="c1", action_name=actions[0]["name"], parent_message_id="m1"
            )
            yield emit_runtime_event(start)
            for args in ('{"name":', '"Ada"}'):
                yield emit_runtime_event(action_execution_args(action_execution_id="c1", args=args))
            yield emit_runtime_event(action_execution_end(action_execution_id="c1"))
        else:
            yield emit_runtime_event(text_message_start(message_id="m1", parent_message_id=None))
            for word in ("Hello ", "from ", answers[0] if answers else "Python."):
                yield emit_runtime_event(text_message_content(message_id="m1", content=word))
            yield emit_runtime_event(text_message_end(message_id="m1"))
        yield emit_runtime_event(self._state(thread_id, seen, active=False))

    async def get_state(self, *, thread_id):
        state = STATES.get(thread_id)
        return {
            "threadId": thread_id,
            "threadExists": state is not None,
            "state": state or {},
            "messages": [],
        }

    def _state(self, thread_id, state, *, active):
        return agent_state_message(
            thread_id=thread_id,
            agent_name=self.name,
            node_name="greet",
            run_id="r1",
            active=active,
            role="assistant",
            state=str(state).replace("'", '"'),
            running=active,
        )


def add(a: float, b: float) -> dict[str, float]:
    return {"sum": a + b}


def boom() -> None:
    raise RuntimeError("the action broke")


def main(port: int) -> None:
    numbers = [{"name": name, "type": "number", "description": name} for name in ("a", "b")]
    endpoint = CopilotKitRemoteEndpoint(
        agents=[Greeter(name="greeter", description="Greets")],
        actions=[
            Action(name="add", description="adds", parameters=numbers, handler=add),
            Action(name="boom", description="fails", parameters=[], handler=boom),
        ],
    )
    app = FastAPI()
    add_fastapi_endpoint(app, endpoint, "/copilotkit")
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    main(int(sys.argv[1]))
