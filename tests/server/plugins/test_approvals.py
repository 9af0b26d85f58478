import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from server.errors import BadRequest, FlowFailed
from server.face.plugins import Approval
from server.plugins import approvals as approval
from server.plugins.approvals import Approvals, chat_key
from tests.kit.plugin_kits import ScriptedAction


def answering(approvals: Approvals, decision: str, arguments: str = "") -> list[Approval]:
    """A person who answers everything the same way; the list is what was shown."""
    seen: list[Approval] = []

    def answer(waiting: tuple[Approval, ...]) -> None:
        for one in waiting:
            if one.id not in [other.id for other in seen]:
                seen.append(one)
                approvals.answer(one.id, decision, arguments)

    approvals.pending.connect(answer)
    return seen


async def ask(approvals: Approvals, action: ScriptedAction, **parts: Any) -> object:
    given = {"confirm": False, "chat": "c1", **parts}
    return await approvals.ask("p", action, {"a": 1}, **given)


async def test_reading_is_not_asked_about(tmp_path: Path) -> None:
    approvals = Approvals(tmp_path / "permissions.json")
    seen = answering(approvals, "deny")
    assert await ask(approvals, ScriptedAction()) == {"a": 1}
    assert seen == []


async def test_a_change_is_asked_once_per_chat_with_the_exact_request(tmp_path: Path) -> None:
    approvals = Approvals(tmp_path / "permissions.json")
    seen = answering(approvals, "once")
    action = ScriptedAction("POST /things", risk="change")
    for chat in ("c1", "c1", "c2"):
        await ask(approvals, action, chat=chat)
    assert len(seen) == 2
    assert seen[0].title == "POST /things"
    assert seen[0].headers == (("X", "•••"),)
    assert '"a": 1' in seen[0].body
    assert approvals.pending.get() == ()


async def test_always_is_remembered_until_the_operation_changes(tmp_path: Path) -> None:
    path = tmp_path / "permissions.json"
    approvals = Approvals(path)
    answering(approvals, "always")
    action = ScriptedAction("POST /things", risk="change")
    await ask(approvals, action)
    later = Approvals(path)
    seen = answering(later, "deny")
    await ask(later, action, chat="c9")
    assert seen == []
    changed = ScriptedAction("POST /things", risk="change", fingerprint="f2")
    with pytest.raises(FlowFailed, match="not allowed"):
        await ask(later, changed, chat="c9")
    assert len(seen) == 1


@pytest.mark.parametrize("parts", [{"confirm": True}, {}])
async def test_danger_is_asked_every_time(tmp_path: Path, parts: dict[str, Any]) -> None:
    approvals = Approvals(tmp_path / "permissions.json")
    seen = answering(approvals, "always")
    action = ScriptedAction("POST /things", risk="change" if parts else "danger")
    await ask(approvals, action, **parts)
    await ask(approvals, action, **parts)
    assert [one.can_always for one in seen] == [False, False]


async def test_a_person_may_change_what_is_sent(tmp_path: Path) -> None:
    approvals = Approvals(tmp_path / "permissions.json")
    answering(approvals, "once", '{"a": 2}')
    assert await ask(approvals, ScriptedAction(risk="change")) == {"a": 2}


async def test_no_answer_is_a_no(tmp_path: Path) -> None:
    approvals = Approvals(tmp_path / "permissions.json", patience_s=0.05)
    with pytest.raises(FlowFailed, match="Nobody answered"):
        await ask(approvals, ScriptedAction(risk="change"))
    assert approvals.pending.get() == ()


async def test_leaving_withdraws_the_question(tmp_path: Path) -> None:
    approvals = Approvals(tmp_path / "permissions.json")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await ask(approvals, ScriptedAction(risk="change"))
    assert approvals.pending.get() == ()
    with pytest.raises(BadRequest, match="no longer open"):
        approvals.answer("gone", "once", "")


async def test_what_is_blocked_is_never_asked(tmp_path: Path) -> None:
    approvals = Approvals(tmp_path / "permissions.json")
    action = ScriptedAction()
    approvals.set_policy("p", action, "block")
    with pytest.raises(FlowFailed, match="blocked"):
        await ask(approvals, action)
    approvals.forget("p")
    assert await ask(approvals, action) == {"a": 1}


async def test_danger_cannot_be_allowed_for_good(tmp_path: Path) -> None:
    approvals = Approvals(tmp_path / "permissions.json")
    with pytest.raises(BadRequest):
        approvals.set_policy("p", ScriptedAction(risk="danger"), "allow")


def test_what_another_version_decided_is_kept_and_a_block_still_holds(tmp_path: Path) -> None:
    path = tmp_path / "permissions.json"
    odd = {"p/read": {"policy": "allow"}, "p/delete": ["block", "f1", "2026-12-01"]}
    path.write_text(json.dumps(odd))
    approvals = Approvals(path)
    assert approvals.policy("p", ScriptedAction("delete")) == "block"
    assert approvals.policy("p", ScriptedAction("read")) == "default"
    approvals.set_policy("p", ScriptedAction("write", risk="change"), "block")
    assert odd.items() <= json.loads(path.read_text()).items()


def test_a_damaged_file_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "permissions.json"
    path.write_text('{"p/delete": ["blo')
    assert Approvals(path).policy("p", ScriptedAction("delete")) == "default"
    assert [one.read_text() for one in tmp_path.iterdir()] == ['{"p/delete": ["blo']


async def test_what_was_allowed_for_a_chat_ends_with_time_and_with_its_plugin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    approvals = Approvals(tmp_path / "permissions.json")
    seen = answering(approvals, "once")
    action = ScriptedAction("POST /things", risk="change")
    await ask(approvals, action)
    approvals.forget("p")
    await ask(approvals, action)
    assert len(seen) == 2
    monkeypatch.setattr(approval, "GRANTED_S", 0.0)
    await ask(approvals, action)
    assert len(seen) == 3


def test_chats_are_told_apart_by_thread_program_and_window() -> None:
    assert chat_key("page", "t1", is_own=False) == chat_key("page", "t1", is_own=False)
    others = [("page", "t2", False), ("other", "t1", False), ("page", "t1", True)]
    keys = {chat_key(client, thread, is_own=own) for client, thread, own in others}
    assert len(keys | {chat_key("page", "t1", is_own=False)}) == 4
    assert chat_key("page", is_own=False) != chat_key("page", is_own=False)


async def test_the_first_call_of_a_program_is_asked_about_even_to_read(tmp_path: Path) -> None:
    path = tmp_path / "permissions.json"
    approvals = Approvals(path)
    seen = answering(approvals, "once")
    for client, chat in (("page", "c1"), ("page", "c2"), ("other", "c3"), ("", "c4")):
        await ask(approvals, ScriptedAction(), client=client, chat=chat)
    assert [(one.client, one.risk) for one in seen] == [("page", "read"), ("other", "read")]
    again = Approvals(path)
    seen = answering(again, "always")
    for _ in range(2):
        await ask(again, ScriptedAction(), client="page")
    assert len(seen) == 1
    later = Approvals(path)
    seen = answering(later, "deny")
    await ask(later, ScriptedAction(), client="page")
    assert (seen, later.decided_operations("p")) == ([], {})
    assert "page" in path.read_text("utf-8")
    later.forget("p")
    with pytest.raises(FlowFailed, match="not allowed"):
        await ask(later, ScriptedAction(), client="page")


async def test_what_is_always_allowed_is_not_yet_so_for_a_new_program(tmp_path: Path) -> None:
    approvals = Approvals(tmp_path / "permissions.json")
    action = ScriptedAction("POST /things", risk="change")
    approvals.set_policy("p", action, "allow")
    seen = answering(approvals, "once")
    for _ in range(2):
        await ask(approvals, action, client="page")
    assert len(seen) == 1


def test_nothing_is_kept_about_a_removed_plugin(tmp_path: Path) -> None:
    path = tmp_path / "permissions.json"
    others = {"q/read": {"policy": "allow"}, "pp/delete": ["block", "f1"]}
    path.write_text(json.dumps({"p/read": {"policy": "allow"}, "p/x": ["block", "f"], **others}))
    Approvals(path).forget("p")
    assert json.loads(path.read_text()) == others
