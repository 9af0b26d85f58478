import json
from pathlib import Path

import pytest

from server.chat import Image, Message, ToolCall
from server.conversation import threads as thread_files
from server.conversation.threads import (
    EVERYBODY,
    Bounds,
    KeptRun,
    ThreadFiles,
    ThreadMessage,
    Threads,
    messages_of,
)
from server.errors import EngineCrashed
from server.events import (
    ClientToolCall,
    Event,
    Failed,
    Finished,
    Interrupted,
    MessageOpened,
    StateChanged,
    StepChanged,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
)
from server.system.files import write_atomically
from tests.kit.engines import replay

ASK = ThreadMessage("u1", Message("user", "look", (Image("image/png", bytes(range(256))),)))
CALL = ToolCall("c1", "add", {"a": 1})
EVENTS = (
    StepChanged("one", active=True), MessageOpened("m1"), TextDelta("Hel"), TextDelta("lo"),
    ToolCallStarted(CALL), ToolCallFinished("c1", "2", failed=True), MessageOpened("m2"),
    ClientToolCall(CALL), StateChanged({"a": [1, None]}), Interrupted("i", {"ask": 1}),
    Finished("tool_calls"),
)  # fmt: skip


class Switch:
    on = True

    def __call__(self) -> bool:
        return self.on


async def talk(threads: Threads, thread: str, *events: Event) -> None:
    run = KeptRun("r1", threads.unknown(thread, (ASK,)))
    async for _ in threads.keep("default", thread, run, replay(*events)):
        pass


async def test_a_thread_is_the_same_after_a_restart(tmp_path: Path):
    files = ThreadFiles(tmp_path, Switch())
    before = Threads(files)
    await talk(before, "../any name", *EVENTS)
    after = Threads(files)
    one, other = before.find("../any name"), after.find("../any name")
    assert one
    assert other
    assert (one.state, one.known, one.created_at) == (other.state, other.known, other.created_at)
    assert one.runs[0].events == other.runs[0].events
    assert messages_of(one) == messages_of(other)
    assert [path.parent for path in tmp_path.rglob("*.json")] == [tmp_path]


async def test_a_failure_keeps_its_words_and_its_code(tmp_path: Path):
    files = ThreadFiles(tmp_path, Switch())
    await talk(Threads(files), "t", Failed(EngineCrashed("It broke.")))
    thread = Threads(files).find("t")
    assert thread
    (failed,) = thread.runs[0].events
    assert isinstance(failed, Failed)
    assert (failed.error.code, str(failed.error)) == ("engine_crashed", "It broke.")


async def test_what_is_forgotten_leaves_the_disk(tmp_path: Path):
    threads = Threads(ThreadFiles(tmp_path, Switch()), Bounds(threads=1))
    await talk(threads, "a", *EVENTS)
    await talk(threads, "b", *EVENTS)
    assert len(list(tmp_path.glob("*.json"))) == 1
    threads.clear()
    assert list(tmp_path.glob("*.json")) == []


async def test_what_was_kept_is_deleted_when_a_person_wants_that(tmp_path: Path):
    folder = tmp_path / "threads"
    threads = Threads(ThreadFiles(folder, Switch()))
    await talk(threads, "t", *EVENTS)
    threads.keep_no_longer()
    assert not folder.exists()
    assert threads.find("t")


async def test_switched_off_nothing_is_read_or_written_and_nothing_is_lost(tmp_path: Path):
    """It may be off only because its setting cannot be read."""
    switch, folder = Switch(), tmp_path / "threads"
    threads = Threads(ThreadFiles(folder, switch))
    await talk(threads, "t", *EVENTS)
    switch.on = False
    await talk(threads, "other", *EVENTS)
    assert Threads(ThreadFiles(folder, switch)).find("t") is None
    switch.on = True
    after = Threads(ThreadFiles(folder, switch))
    assert [thread.id for thread in after.of_agent("")] == ["t"]


async def test_what_is_being_written_as_it_is_switched_off_goes_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    switch, folder = Switch(), tmp_path / "threads"

    def write_late(path: Path, text: str) -> None:
        switch.on = False
        write_atomically(path, text)

    monkeypatch.setattr(thread_files, "write_atomically", write_late)
    await talk(Threads(ThreadFiles(folder, switch)), "t", *EVENTS)
    assert not folder.exists()


async def test_a_damaged_file_is_left_out(tmp_path: Path):
    files = ThreadFiles(tmp_path, Switch())
    await talk(Threads(files), "t", *EVENTS)
    for text in ("{", "[]", '{"id": 1}'):
        (tmp_path / f"broken-{len(text)}.json").write_text(text)
    assert [thread.id for thread in Threads(files).of_agent("")] == ["t"]


async def test_a_page_finds_its_own_thread_after_a_restart(tmp_path: Path):
    files = ThreadFiles(tmp_path, Switch())
    threads = Threads(files)
    for origin in ("", "https://one.example", "https://other.example"):
        run = KeptRun("r1", (ASK,))
        async for _ in threads.keep("default", "t", run, replay(TextDelta(origin)), origin):
            pass
    after = Threads(files)
    kept = after.find("t", "https://one.example")
    assert kept
    assert kept.runs[0].events[0] == TextDelta("https://one.example")
    after.clear("https://one.example")
    again = Threads(files)
    assert [one.origin for one in again.of_agent("", EVERYBODY)] == ["https://other.example", ""]


async def test_a_file_from_before_threads_had_owners_belongs_to_programs(tmp_path: Path):
    files = ThreadFiles(tmp_path, Switch())
    await talk(Threads(files), "t", *EVENTS)
    (path,) = tmp_path.glob("*.json")
    whole = json.loads(path.read_text("utf-8"))
    del whole["origin"]
    path.write_text(json.dumps(whole))
    after = Threads(files)
    assert after.find("t")
    assert after.find("t", EVERYBODY)
    assert after.find("t", "https://one.example") is None
    after.clear()
    assert list(tmp_path.glob("*.json")) == []
