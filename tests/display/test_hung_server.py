"""Checks that a hung server is shown as such, and that it recovers or is replaced by a click."""

from collections.abc import Callable

import psutil

from tests.display.desktop import Desktop, labels, wait_for
from tests.display.program import Program, left_of

Start = Callable[[Desktop], Program]


def server_of(program: Program) -> psutil.Process:
    return program.family()[1]


def says(desktop: Desktop, item: str, first: str) -> bool:
    return labels(desktop.open_menu(item))[0] == first


def test_a_halted_server_is_shown_and_replaced_on_demand(desktop: Desktop, start: Start) -> None:
    program = start(desktop)
    item = program.wait_for_icon()
    program.wait_until_ready()
    wait_for("the ready state", lambda: says(desktop, item, "Moat is ready"))
    halted = server_of(program)
    halted.suspend()
    wait_for("the hang", lambda: says(desktop, item, "Moat does not respond"))
    halted.resume()
    wait_for("its waking up", lambda: says(desktop, item, "Moat is ready"))
    assert server_of(program) == halted
    halted.suspend()
    wait_for("the hang", lambda: says(desktop, item, "Moat does not respond"))
    old = program.family()[1:]
    desktop.click(item, "Restart")
    wait_for("another server", lambda: says(desktop, item, "Moat is ready"))
    assert server_of(program) != halted
    assert left_of(old) == []
    assert program.is_listening()
