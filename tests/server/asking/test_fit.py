import pytest

from server.asking.ask import fit_prompt
from server.errors import FlowFailed
from tests.kit.engines import ScriptedEngine


async def test_data_is_cut_until_the_prompt_takes_its_share_of_the_context() -> None:
    engine = ScriptedEngine()
    messages = await fit_prompt(engine, lambda room: ("system", "word " * room))
    used = len(await engine.tokenize("".join(message.content for message in messages)))
    assert 0 < used <= engine.facts.context_tokens * 0.8


async def test_a_prompt_that_cannot_be_cut_is_refused() -> None:
    with pytest.raises(FlowFailed) as caught:
        await fit_prompt(ScriptedEngine(), lambda _room: ("", "word " * 100_000))
    assert caught.value.fault == "too_large"
