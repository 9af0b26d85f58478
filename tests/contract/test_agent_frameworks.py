"""Runs LangChain and pydantic-ai, unmodified, against a running Moat."""

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, SecretStr
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from tests.kit.running import Moat

pytestmark = pytest.mark.filterwarnings("default")
NAME = "SmolLM2-135M-Instruct"


@tool
def switch(on: bool) -> str:
    """Switch the lamp."""
    return "on" if on else "off"


@pytest.fixture
def langchain(moat: Moat) -> ChatOpenAI:
    return ChatOpenAI(
        model=NAME, base_url=f"{moat.address}/v1", api_key=SecretStr("none"), max_retries=0
    )


def test_langchain_binds_tools(langchain: ChatOpenAI) -> None:
    bound = langchain.bind_tools([switch], tool_choice="switch")
    answer = bound.invoke("Switch the lamp on.")
    assert isinstance(answer, AIMessage)
    assert answer.tool_calls[0]["name"] == "switch"
    assert isinstance(answer.tool_calls[0]["args"]["on"], bool)
    result = switch.invoke(answer.tool_calls[0])
    short = langchain.bind(max_tokens=16)
    assert short.invoke([HumanMessage("Switch the lamp on."), answer, result]).content


def test_langchain_streams_tool_calls(langchain: ChatOpenAI) -> None:
    bound = langchain.bind_tools([switch], tool_choice="any")
    whole: AIMessageChunk | None = None
    for chunk in bound.stream("Switch the lamp on."):
        assert isinstance(chunk, AIMessageChunk)
        whole = chunk if whole is None else whole + chunk
    assert whole
    assert whole.tool_calls[0]["name"] == "switch"


class Lamp(BaseModel):
    on: bool


async def test_pydantic_ai_gets_a_typed_answer(moat: Moat) -> None:
    provider = OpenAIProvider(base_url=f"{moat.address}/v1", api_key="none")
    agent = Agent(OpenAIChatModel(NAME, provider=provider), output_type=Lamp)
    async with agent:
        run = await agent.run("Is the lamp on?")
    assert isinstance(run.output, Lamp)
