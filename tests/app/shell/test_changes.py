from dataclasses import replace

from app.shell.tray import News
from server.face.models import Download
from server.observe import Value

FIRST = Download("1", "a", "r", "running")


def test_each_change_is_told_once_and_what_was_there_is_not() -> None:
    source: Value[tuple[Download, ...]] = Value((FIRST,))
    told: list[tuple[str, str]] = []
    news = News(source, lambda one: told.append((one.id, one.phase)))
    source.set((replace(FIRST, done_bytes=5),))
    assert told == []
    source.set((replace(FIRST, phase="done"), replace(FIRST, id="2")))
    assert told == [("1", "done"), ("2", "running")]
    source.set((replace(FIRST, phase="done", reason="x"), replace(FIRST, id="2")))
    assert len(told) == 2
    news.end()
    source.set(())
    source.set((FIRST,))
    assert len(told) == 2


def test_of_things_that_stay_only_a_change_is_news() -> None:
    source: Value[tuple[Download, ...]] = Value(())
    told: list[str] = []
    News(source, lambda one: told.append(one.phase), arrivals=False)
    source.set((FIRST,))
    source.set(())
    source.set((FIRST,))
    assert told == []
    source.set((replace(FIRST, phase="failed"),))
    assert told == ["failed"]
