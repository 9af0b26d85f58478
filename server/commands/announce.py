"""What a person at the terminal needs to know while Moat serves, each thing once."""

from collections import deque
from collections.abc import Callable

from server.face.core import Face, Knock, ModelStatus, ServerStatus
from server.face.plugins import Approval
from server.origins import can_be_allowed

MOST_PAGES = 5
PAGES_S = 60.0
"""So many pages are announced in so many seconds; a program could make up any number of them."""


class Announcer:
    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._said: set[str] = set()
        self._pages: deque[float] = deque(maxlen=MOST_PAGES)

    def watch(self, core: Face) -> None:
        core.server.connect(self._show_server)
        core.model.connect(self._show_model)
        core.notices.connect(self._show_notices)
        core.knocks.connect(self._show_knocks)
        core.approvals.connect(self._show_approvals)

    def _once(self, text: str) -> None:
        if text and text not in self._said:
            self._said.add(text)
            self._say(text)

    def _show_server(self, status: ServerStatus) -> None:
        self._once(status.port_note)
        if status.phase == "ready":
            self._once(f"Moat serves on {status.address}  (stop with Ctrl-C)")
            if status.secure_address:
                self._once(f"HTTPS: {status.secure_address}  (trust it once: {status.trust})")
        elif status.phase == "failed":
            self._once(status.reason)

    def _show_model(self, status: ModelStatus) -> None:
        if status.phase == "loading":
            self._once(f"Loading {status.name} …")
        elif status.phase == "ready":
            self._once(f"Ready: {status.name}, {status.context_tokens} tokens of context")
        elif status.phase == "failed":
            self._once(status.reason)

    def _show_approvals(self, waiting: tuple[Approval, ...]) -> None:
        for one in waiting:
            by = f" for {one.client}" if one.client else ""
            command = f"moat plugins answer {one.id[:6]} once|always|deny"
            self._once(f"{one.plugin} asks{by}: {one.title}  ({command})")

    def _show_notices(self, notices: tuple[str, ...]) -> None:
        for notice in notices:
            self._once(notice)

    def _show_knocks(self, knocks: tuple[Knock, ...]) -> None:
        """Only origins that can be allowed: they hold nothing that a terminal would obey."""
        for knock in knocks:
            if knock.outcome == "origin" and can_be_allowed(knock.origin):
                self._show_page(knock)

    def _show_page(self, knock: Knock) -> None:
        page = knock.origin
        text = f"A page at {page} wants to connect. Allow it with: moat allow {page}"
        if text in self._said:
            return
        is_rush = len(self._pages) == MOST_PAGES and knock.at - self._pages[0] < PAGES_S
        if not is_rush:
            self._pages.append(knock.at)
            self._once(text)
