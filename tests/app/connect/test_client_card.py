from pytestqt.qtbot import QtBot

from app.connect.clients import all_clients
from app.connect.page import ClientCard

ADDRESS = "http://127.0.0.1:7777"
KEY = "secret-of-the-keyring"


def card(qtbot: QtBot, name: str) -> ClientCard:
    client = next(one for one in all_clients() if one.id == name)
    made = ClientCard(client)
    qtbot.addWidget(made)
    return made


def test_copilotkit_shows_the_current_form_and_the_older_one_apart(qtbot: QtBot) -> None:
    shown = card(qtbot, "copilotkit")
    shown.show_here(ADDRESS, "tiny", "")
    assert shown.older
    current, older = shown.snippet.toPlainText(), shown.older.snippet.toPlainText()
    assert "<CopilotKitProvider" in current
    assert '"@copilotkit/react-core/v2"' in current
    assert "<CopilotKit\n" in older
    assert "CopilotKitProvider" not in older
    for text in (current, older):
        assert f'runtimeUrl="{ADDRESS}/api/copilotkit"' in text
        assert "Bearer" not in text


def test_the_key_is_copied_but_not_shown_in_either_form(qtbot: QtBot) -> None:
    shown = card(qtbot, "copilotkit")
    shown.show_here(ADDRESS, "tiny", KEY)
    assert shown.older
    for box in (shown.snippet, shown.older.snippet):
        assert KEY not in box.toPlainText()
        assert "Bearer YOUR-ACCESS-KEY" in box.toPlainText()


def test_other_programs_have_one_form(qtbot: QtBot) -> None:
    assert card(qtbot, "openai").older is None
