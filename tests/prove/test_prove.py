"""The proof itself: a row that falls short or breaks fails it, and its report is readable."""

import inspect
import re
import threading
from pathlib import Path

import pytest

from tests.prove import report
from tests.prove.__main__ import measured, run, run_all, run_short_again
from tests.prove.egress import read
from tests.prove.fuzz import log_of_errors
from tests.prove.gate import ROWS
from tests.prove.rows import Figure, NotOurs, Row
from tests.prove.stage import Stage
from tests.prove.suite import NOT_OURS, SECTIONS


def breaks(_stage: Stage) -> Figure:
    raise OSError("no such thing")


def test_a_row_that_cannot_be_measured_falls_short() -> None:
    figure = measured(breaks, Stage(quick=True))
    assert not figure.held
    assert "no such thing" in figure.text


def test_what_lasts_runs_beside_the_others() -> None:
    other_ran = threading.Event()

    def lasting(_stage: Stage) -> Figure:
        return Figure("", other_ran.wait(60))

    def other(_stage: Stage) -> Figure:
        other_ran.set()
        return Figure("", held=True)

    rows = (Row("F1", "", "", lasting, lasts=True), Row("F2", "", "", other))
    ran = [(row.key, result.held) for row, result in run_all(rows, Stage(quick=False))]
    assert ran == [("F2", True), ("F1", True)]


def test_in_the_short_form_what_does_not_disturb_runs_beside_the_others() -> None:
    other_ran, first_ran = threading.Event(), threading.Event()

    def apart(_stage: Stage) -> Figure:
        held = other_ran.wait(60)
        first_ran.set()
        return Figure("", held)

    def after_it(_stage: Stage) -> Figure:
        return Figure("", first_ran.is_set())

    def other(_stage: Stage) -> Figure:
        other_ran.set()
        return Figure("", held=True)

    rows = (
        Row("F1", "", "", apart, beside="apart"),
        Row("F2", "", "", after_it, beside="apart"),
        Row("F3", "", "", other),
    )
    ran = [(row.key, result.held) for row, result in run_all(rows, Stage(quick=True))]
    assert ran == [("F3", True), ("F1", True), ("F2", True)]


def test_in_the_full_form_what_must_be_alone_begins_when_the_others_have_ended() -> None:
    other_ran, alone_ran = threading.Event(), threading.Event()
    ended: list[str] = []

    def apart(_stage: Stage) -> Figure:
        held = other_ran.wait(60)
        ended.append("apart")
        return Figure("", held)

    def lasting(_stage: Stage) -> Figure:
        return Figure("", alone_ran.wait(60))

    def alone(stage: Stage) -> Figure:
        alone_ran.set()
        return Figure("", held=ended == ["apart"] and not stage.going.is_set())

    def other(_stage: Stage) -> Figure:
        other_ran.set()
        return Figure("", held=True)

    rows = (
        Row("F1", "", "", apart, beside="apart"),
        Row("F2", "", "", lasting, lasts=True),
        Row("F3", "", "", alone, alone=True, beside="apart"),
        Row("F4", "", "", other),
    )
    ran = {row.key: result.held for row, result in run_all(rows, Stage(quick=False))}
    assert ran == {"F1": True, "F2": True, "F3": True, "F4": True}


@pytest.mark.parametrize(
    ("quick", "lasts", "rows_again"),
    [(True, False, ["F1"]), (True, True, ["F1"]), (False, False, ["F1"]), (False, True, [])],
)
def test_a_row_that_falls_short_is_measured_again_unless_it_takes_hours(
    *, quick: bool, lasts: bool, rows_again: list[str]
) -> None:
    figures = iter((Figure("slow", held=False), Figure("quick", held=True)))
    rows = (
        Row("F1", "", "", lambda _stage: next(figures), lasts=lasts),
        Row("F2", "", "", lambda _stage: Figure("fine", held=True)),
    )
    stage = Stage(quick=quick)
    first = {row.key: result for row, result in run_all(rows, stage)}
    again = list(run_short_again(rows, first, stage))
    assert [row.key for row, _ in again] == rows_again
    for _, result in again:
        assert (result.held, result.figure) == (True, "quick (beside other rows: slow)")


def test_a_worker_that_dies_is_an_error_and_one_that_is_unloaded_is_none() -> None:
    with Stage(quick=True) as stage:
        logs = stage.home / "logs"
        logs.mkdir()
        died = "12:00 ERROR server.engine.link: The engine stopped: it ran out of memory."
        idle = "12:01 INFO server.engine.pool: Unloading SmolLM2, which was idle"
        (logs / "moat.log").write_text(f"{died}\n{idle}\n", "utf-8")
        assert log_of_errors(stage) == {died}


def test_ending_early_begins_no_further_row() -> None:
    begun: list[str] = []

    def first(stage: Stage) -> Figure:
        begun.append("first")
        return Figure("", stage.stopping.wait(60))

    def second(_stage: Stage) -> Figure:
        begun.append("second")
        return Figure("", held=True)

    def ends(_stage: Stage) -> Figure:
        while not begun:
            pass
        raise KeyboardInterrupt

    rows = (
        Row("F1", "", "", first, beside="apart"),
        Row("F2", "", "", second, beside="apart"),
        Row("F3", "", "", ends),
    )
    with pytest.raises(KeyboardInterrupt):
        list(run_all(rows, Stage(quick=True)))
    assert begun == ["first"]


def test_who_runs_beside_the_others_shares_no_server_with_them() -> None:
    """Shared servers are started once, and their rows count what happens to them meanwhile."""
    for row in (row for _, rows in SECTIONS for row in rows if row.beside):
        names = set(inspect.unwrap(row.measure).__code__.co_names)
        assert not names & {"moat", "ours", "theirs", "home"}, row.key


def test_every_incident_of_the_list_is_a_row_or_has_its_reason() -> None:
    keys = [row.key for _, rows in SECTIONS for row in rows]
    assert len(keys) == len(set(keys))
    named = {re.sub(r"[a-z]$", "", key) for key in keys} | {one.key for one in NOT_OURS}
    assert {f"S{number}" for number in range(1, 31)} <= named


def test_the_document_has_figures_verdicts_and_reasons(tmp_path: Path) -> None:
    rows = (
        Row("X1", "It holds", "all", lambda _stage: Figure("3 of 3", held=True)),
        Row("X2", "It does not", "all", lambda _stage: Figure("2 of 3", held=False)),
    )
    stage = Stage(quick=True)
    results = {row.key: run(row, stage) for row in rows}
    path = tmp_path / "proof.md"
    report.write([("Rows", rows)], [NotOurs("X3", "that", "because")], results, path)
    text = path.read_text("utf-8")
    assert "| X1 | It holds | all | 3 of 3 | - | held | quick" in text
    assert "| X2 | It does not | all | 2 of 3 | - | **short** | quick" in text
    assert "| X3 | that | because |" in text
    assert "2 measured, 1 short" in text


def test_a_connection_to_elsewhere_is_noticed_in_the_record(tmp_path: Path) -> None:
    log = tmp_path / "calls"
    log.write_text(
        "1 connect(3, {sa_family=AF_INET, sin_port=htons(80), "
        'sin_addr=inet_addr("127.0.0.1")}, 16) = 0\n'
        "1 connect(3, {sa_family=AF_INET, sin_port=htons(443), "
        'sin_addr=inet_addr("192.0.2.1")}, 16) = -1 ENETUNREACH\n'
        "1 connect(3, {sa_family=AF_INET6, sin6_port=htons(53), sin6_flowinfo=htonl(0), "
        'inet_pton(AF_INET6, "2001:db8::1", &sin6_addr), sin6_scope_id=0}, 28) = -1\n'
    )
    record = read(log)
    assert record.inside == 1
    assert record.outside.total() == 2
    assert record.names_asked == 1


def test_only_the_browser_of_a_test_may_look_for_a_way_out(tmp_path: Path) -> None:
    log = tmp_path / "calls"
    look = (
        "connect(3, {sa_family=AF_INET6, sin6_port=htons(443), sin6_flowinfo=htonl(0), "
        'inet_pton(AF_INET6, "2001:4860:4860::8888", &sin6_addr), sin6_scope_id=0}, 28) = -1\n'
    )
    log.write_text(
        '7 execve("/usr/bin/python", ["python"], 0x1 /* 9 vars */) = 0\n'
        "7 clone3({flags=CLONE_VM, exit_signal=0} => {parent_tid=[8]}, 88) = 8\n"
        '8 execve("/usr/lib/chromium/chromium", ["chromium"], 0x1 /* 9 vars */) = 0\n'
        "8 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>\n"
        "8 <... clone resumed>) = 9\n"
        f"9 {look}7 {look}"
    )
    record = read(log)
    assert record.looks == 1
    assert list(record.outside) == ["python 2001:4860:4860::8888 443"]


def test_the_gate_holds_on_a_running_server(tmp_path: Path) -> None:
    with Stage(quick=True) as stage:
        kept = [row.key for row in ROWS[:4] if row.measure(stage).held]
    assert kept == ["S1", "S2", "S2a", "S3"]
