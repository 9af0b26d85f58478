"""What a screen reader gets: on every page each control has a role and a name."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from app.shell.window import PAGES, Window
from tests.kit.fake_core import FakeCore
from tests.kit.fake_plugins import PORTFOLIO

Shown = Callable[[Any], Any]
ROLES = QAccessible.Role
CONTROLS = frozenset({
    ROLES.Button, ROLES.PushButton, ROLES.CheckBox, ROLES.RadioButton, ROLES.ComboBox,
    ROLES.EditableText, ROLES.Slider, ROLES.SpinBox, ROLES.List, ROLES.Table, ROLES.Tree,
    ROLES.ButtonMenu, ROLES.ButtonDropDown, ROLES.Link, ROLES.ProgressBar,
})  # fmt: skip


@pytest.fixture
def window(core: FakeCore, memory: QSettings, shown: Shown, qapp: QApplication) -> Window:
    core.plugins.cards.set((PORTFOLIO,))
    return shown(Window(core, memory))  # type: ignore[no-any-return]


def walk(found: QAccessibleInterface | None) -> Iterator[QAccessibleInterface]:
    """The tree as a screen reader walks it, without what is not shown."""
    if found is None or not found.isValid() or found.state().invisible:
        return
    yield found
    for place in range(found.childCount()):
        yield from walk(found.child(place))


def inside_of_another(found: QAccessibleInterface) -> bool:
    """The field of a number box and the list of a choice speak through those."""
    parent = found.parent()
    return parent is not None and parent.role() in (ROLES.SpinBox, ROLES.ComboBox)


def nameless(window: Window) -> list[str]:
    return [
        f"{found.role().name}: {type(found.object()).__name__} in {_place(found.object())}"
        for found in walk(QAccessible.queryAccessibleInterface(window))
        if found.role() in CONTROLS
        and not inside_of_another(found)
        and not found.text(QAccessible.Text.Name).strip()
    ]


def _place(widget: Any) -> str:
    names = []
    while widget is not None:
        names.append(type(widget).__name__)
        widget = widget.parent()
    return " < ".join(names)


def in_tab_order(window: Window) -> list[QWidget]:
    found, widget = [], window.nextInFocusChain()
    while widget is not window:
        found.append(widget)
        widget = widget.nextInFocusChain()
    return found


def takes_tab(widget: QWidget) -> bool:
    policy = widget.focusPolicy() & Qt.FocusPolicy.TabFocus
    return bool(policy) and widget.isVisible() and widget.isEnabled()


async def test_every_control_of_every_page_has_a_name(window: Window) -> None:
    for page in PAGES:
        window.turn_to(page.title)
        tree = list(walk(QAccessible.queryAccessibleInterface(window)))
        controls = [found for found in tree if found.role() in CONTROLS]
        assert len(controls) > len(PAGES), page.title
        assert nameless(window) == [], page.title


async def test_what_takes_the_keyboard_has_a_role_and_its_place_in_the_order(
    window: Window,
) -> None:
    for page in PAGES:
        window.turn_to(page.title)
        wanted = {widget for widget in window.findChildren(QWidget) if takes_tab(widget)}
        roles = {QAccessible.queryAccessibleInterface(widget).role() for widget in wanted}
        assert ROLES.NoRole not in roles, page.title
        order = [widget for widget in in_tab_order(window) if widget in wanted]
        assert set(order) == wanted, page.title
        own = [widget for widget in order if window.page().isAncestorOf(widget)]
        first = order.index(own[0])
        assert order[first : first + len(own)] == own, page.title


async def test_a_control_without_a_name_is_noticed(window: Window) -> None:
    button = QPushButton(window)
    button.show()
    assert len(nameless(window)) == 1
    button.setAccessibleName("Named")
    assert nameless(window) == []
