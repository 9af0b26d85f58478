"""A list of things in a card, one line each: kept by key, so that a change does not flicker."""

from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.look import theme
from app.look.controls import divider, stack

T = TypeVar("T")
Row = TypeVar("Row", bound=QWidget)


class Rows(Generic[T, Row]):
    """`make` builds a row for a key, `show` puts a thing into it. `layout` goes into the page."""

    def __init__(
        self,
        key: Callable[[T], Hashable],
        make: Callable[[T], Row],
        show: Callable[[Row, T], None] = lambda _row, _item: None,
        *,
        lined: bool = True,
    ) -> None:
        self.layout = QVBoxLayout()
        self.layout.setSpacing(theme.MEDIUM if lined else theme.LARGE)
        self._is_lined = lined
        self._key, self._make, self._show = key, make, show
        self._lines: dict[Hashable, QWidget] = {}
        self._rows: dict[Hashable, Row] = {}

    @property
    def rows(self) -> list[Row]:
        return list(self._rows.values())

    def show(self, items: Sequence[T]) -> None:
        wanted = {self._key(item): item for item in items}
        for key in [key for key in self._lines if key not in wanted]:
            self._drop(key)
        for key, item in wanted.items():
            if key not in self._rows:
                self._add(key, item)
            self._show(self._rows[key], item)

    def _add(self, key: Hashable, item: T) -> None:
        row = self._make(item)
        line = QWidget()
        inside = stack(spacing=theme.MEDIUM)
        if self._lines and self._is_lined:
            inside.addWidget(divider())
        inside.addWidget(row)
        line.setLayout(inside)
        self._rows[key], self._lines[key] = row, line
        self.layout.addWidget(line)

    def _drop(self, key: Hashable) -> None:
        line = self._lines.pop(key)
        del self._rows[key]
        self.layout.removeWidget(line)
        line.hide()
        line.deleteLater()
