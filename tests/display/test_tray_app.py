"""Does what a person does with the tray and the window, on a real desktop and server."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.display.desktop import Desktop, labels, wait_for
from tests.display.program import Program, left_of

Start = Callable[[Desktop], Program]
PICTURES = Path(__file__).resolve().parents[2] / "build" / "screenshots"


def test_the_icon_comes_and_the_server_with_it(desktop: Desktop, start: Start) -> None:
    """`make startup` and the proof (F15a) measure how soon."""
    program = start(desktop)
    program.wait_for_icon()
    wait_for("the server", program.is_listening)
    program.end()
    wait_for("the icon's end", lambda: desktop.tray_item() is None)


def test_the_menu_tells_the_state_and_stops_and_starts(desktop: Desktop, start: Start) -> None:
    program = start(desktop)
    item = program.wait_for_icon()
    program.wait_until_ready()
    wait_for("the ready state", lambda: labels(desktop.open_menu(item))[0] == "Moat is ready")
    assert labels(desktop.open_menu(item)) == [
        "Moat is ready",
        "Stop",
        "Model",
        "Copy address",
        "Open Moat",
        "Logs",
        "Quit Moat",
    ]
    models = next(entry for entry in desktop.open_menu(item) if entry.label == "Model")
    assert [entry.checked for entry in models.children][:1] == [True]
    PICTURES.mkdir(parents=True, exist_ok=True)
    desktop.picture(PICTURES / "desktop.png")
    desktop.click(item, "Stop")
    wait_for("the stopped state", lambda: "Start" in labels(desktop.open_menu(item)))
    assert not program.is_listening()
    desktop.click(item, "Start")
    wait_for("the server", program.is_listening)
    wait_for("the ready state", lambda: "Stop" in labels(desktop.open_menu(item)))


def test_quit_ends_everything_within_three_seconds(desktop: Desktop, start: Start) -> None:
    program = start(desktop)
    item = program.wait_for_icon()
    program.wait_until_ready()
    family = program.family()
    assert len(family) >= 3
    desktop.click(item, "Quit Moat")
    assert left_of(family) == []
    assert program.process.wait(60) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_everything_in_mid_answer(
    number: signal.Signals, desktop: Desktop, start: Start
) -> None:
    program = start(desktop)
    program.wait_until_ready()
    with program.open_stream():
        family = program.family()
        program.process.send_signal(number)
        assert left_of(family) == []


def test_a_killed_window_ends_the_stream_typed_and_leaves_no_process(
    desktop: Desktop, start: Start
) -> None:
    program = start(desktop)
    program.wait_until_ready()
    with program.open_stream() as stream:
        family = program.family()
        os.kill(program.process.pid, signal.SIGKILL)
        lines = [line for line in stream.read().splitlines() if line.startswith(b"data:")]
    assert lines[-1] == b"data: [DONE]" or b'"error"' in lines[-1]
    program.process.wait(60)
    assert left_of(family[1:]) == []


def test_a_killed_server_is_started_again(desktop: Desktop, start: Start) -> None:
    program = start(desktop)
    program.wait_until_ready()
    server = psutil.Process(program.process.pid).children()[0]
    family = [server, *server.children(recursive=True)]
    server.kill()
    assert left_of(family) == []
    wait_for("the server again", program.is_listening)
    assert program.process.poll() is None


def test_a_second_start_raises_the_first_window(desktop: Desktop, start: Start) -> None:
    first = start(desktop)
    item = first.wait_for_icon()
    (window,) = wait_for("the window", desktop.windows)
    wait_for("its focus", lambda: desktop.active_window() == window)
    desktop.type("alt+F4")
    wait_for("the window to hide", lambda: not desktop.windows())
    assert first.process.poll() is None
    second = start(desktop)
    wait_for("the window", desktop.windows)
    assert second.process.wait(60) == 0
    assert first.process.poll() is None
    assert desktop.tray_item() == item


def test_a_killed_window_does_not_stop_the_next_start(desktop: Desktop, start: Start) -> None:
    first = start(desktop)
    first.wait_for_icon()
    first.process.kill()
    first.process.wait(60)
    wait_for("the icon's end", lambda: desktop.tray_item() is None)
    second = start(desktop)
    second.wait_for_icon()
    wait_for("the window", desktop.windows)


def test_the_logs_entry_opens_the_window(desktop: Desktop, start: Start) -> None:
    program = start(desktop)
    item = program.wait_for_icon()
    (window,) = wait_for("the window", desktop.windows)
    wait_for("its focus", lambda: desktop.active_window() == window)
    desktop.type("alt+F4")
    wait_for("the window to hide", lambda: not desktop.windows())
    desktop.click(item, "Logs")
    wait_for("the window", desktop.windows)


def test_without_a_tray_the_window_stays_and_closing_it_quits(
    bare_desktop: Desktop, start: Start
) -> None:
    program = start(bare_desktop)
    (window,) = wait_for("the window", bare_desktop.windows)
    wait_for("its focus", lambda: bare_desktop.active_window() == window)
    family = program.family()
    bare_desktop.type("alt+F4")
    assert left_of(family) == []
