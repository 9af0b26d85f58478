"""What a person at the terminal needs to know while Moat serves, each thing once."""

from collections.abc import Callable

from server.abilities import Approval
from server.face import Face, ModelStatus, ServerStatus


class Announcer:
    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._said: set[str] = set()

    def watch(self, core: Face) -> None:
        core.server.connect(self._show_server)
        core.model.connect(self._show_model)
        core.notices.connect(self._show_notices)
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
