from PySide6.QtWidgets import QApplication

from app.look.page import Page
from server.errors import AppError
from server.face.core import ServerStatus
from tests.kit.fake_core import SERVING, FakeCore
from tests.kit.until import until


class Plain(Page):
    title = "Plain"
    icon = "home"

    def __init__(self, core: FakeCore) -> None:
        super().__init__(core)
        self.seen: list[ServerStatus] = []
        self.observe(core.server, self.seen.append)


async def test_a_page_opened_late_is_right_at_once(core: FakeCore) -> None:
    page = Plain(core)
    assert page.seen == [SERVING]
    page.deleteLater()


async def test_a_page_stops_listening_when_it_goes(core: FakeCore) -> None:
    page = Plain(core)
    seen = page.seen
    gone: list[bool] = []
    page.destroyed.connect(lambda: gone.append(True))
    page.deleteLater()
    await until(lambda: gone)
    core.server.set(ServerStatus("stopped"))
    assert seen == [SERVING]


async def test_a_command_that_fails_is_told_in_a_sentence(
    core: FakeCore, qapp: QApplication
) -> None:
    page = Plain(core)
    told: list[str] = []
    page.failed.connect(lambda error: told.append(str(error)))
    core.refuse = AppError("No.")
    page.run(core.start())
    await until(lambda: told)
    page.run(core.start())
    await until(lambda: core.commands)
    assert told == ["No."]
    page.deleteLater()
