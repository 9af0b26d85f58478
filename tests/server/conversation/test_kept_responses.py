"""Responses are kept within bounds, and nobody pushes out those of another."""

import pytest

from server.chat import Image, Message, ToolCall
from server.conversation import threads
from server.conversation.threads import KeptResponse, ResponseMemory


def kept(owner: str, name: str, size: int = 1) -> KeptResponse:
    image = Image("image/png", b"x" * size)
    said = (Message("user", "", (image,)),)
    return KeptResponse(owner, "", {"id": name, "status": "completed"}, (), said)


def test_one_who_keeps_much_loses_only_his_own() -> None:
    memory = ResponseMemory()
    memory.keep(kept("quiet", "first"))
    for number in range(threads.MOST_OF_ONE + 50):
        memory.keep(kept("busy", f"r{number}"))
    assert memory.find("quiet", "first")
    assert len(memory) == threads.MOST_OF_ONE + 1
    assert memory.find("busy", "r49") is None
    assert memory.find("busy", "r50")


def test_all_together_and_their_sizes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = ResponseMemory()
    for number in range(threads.MOST_OF_ALL + 20):
        memory.keep(kept(f"owner {number}", f"r{number}"))
    assert len(memory) == threads.MOST_OF_ALL
    monkeypatch.setattr(threads, "MOST_BYTES", 1000)
    memory = ResponseMemory()
    for number in range(5):
        memory.keep(kept("a", f"r{number}", 400))
    assert len(memory) == 2
    memory.keep(kept("a", "large", 10_000))
    assert memory.find("a", "large")


def test_all_that_a_response_holds_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "MOST_BYTES", 1000)
    long = "x" * 400
    call = Message("assistant", "", tool_calls=(ToolCall("c", "f", {"a": long}),))
    for response, items, messages in (
        ({"instructions": long}, (), ()),
        ({}, ({"type": "message", "content": [{"text": long}]},), ()),
        ({}, (), (Message("assistant", "", reasoning=long),)),
        ({}, (), (call,)),
    ):
        memory = ResponseMemory()
        for number in range(5):
            memory.keep(KeptResponse("a", "", {"id": f"r{number}"} | response, items, messages))
        assert len(memory) == 2


def test_only_its_owner_finds_and_forgets_one() -> None:
    memory = ResponseMemory()
    memory.keep(kept("a", "r"))
    memory.forget("b", "r")
    assert memory.find("b", "r") is None
    assert memory.find("a", "r")
    memory.forget("a", "r")
    assert memory.find("a", "r") is None


def test_a_request_without_a_key_finds_what_its_page_asked_for_with_one() -> None:
    memory = ResponseMemory()
    memory.keep(kept("/placeholder", "of a program"))
    memory.keep(kept("page/placeholder", "of a page"))
    assert memory.find("/", "of a program")
    assert memory.find("/", "of a page") is None
    assert memory.find("page/", "of a page")
    assert memory.find("page/", "of a program") is None
    assert memory.find("/another key", "of a program") is None
