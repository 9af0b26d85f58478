"""Rows of the list of incidents that existing tests show."""

from tests.prove.by_test import shown_by
from tests.prove.rows import Row

ROWS = (
    Row(
        "S6",
        "No name from outside becomes a path outside",
        "every hostile name refused, nothing written",
        shown_by(
            "tests/server/models/test_names.py",
            "tests/server/models/test_hub.py::test_hostile_names_are_not_even_asked_for",
            "tests/server/conversation/test_thread_files.py",
            "tests/server/plugins/test_install.py::test_a_name_that_is_no_folder_of_its_own_is_refused",
        ),
    ),
    Row(
        "S7",
        "A hub that lies about names, sizes, ranges or hashes gets nothing listed",
        "all refused or fetched again",
        shown_by("tests/server/models/test_hub.py", "tests/server/models/downloads/test_queue.py"),
    ),
    Row(
        "S8",
        "A token never follows a redirect to another host",
        "0 headers sent on",
        shown_by(
            "tests/server/test_egress.py::test_credentials_do_not_follow_a_redirect_to_another_host",
            "tests/server/models/test_hub.py::test_the_token_goes_to_the_hub_and_nowhere_else",
        ),
    ),
    Row(
        "S14a",
        "A picture that would unpack without end, or is none, is refused",
        "all refused",
        shown_by("tests/server/engine/worker/prompt/test_pictures.py"),
    ),
    Row(
        "S15",
        "Nothing outside the one door out is opened, whatever an address looks like",
        "all refused",
        shown_by(
            "tests/server/test_egress.py",
            "tests/server/plugins/api/test_action.py",
        ),
    ),
    Row(
        "S23",
        "A plugin archive cannot climb out, link, lie or explode",
        "all refused, nothing unpacked",
        shown_by("tests/server/plugins/test_install.py"),
    ),
    Row(
        "S24",
        "Nothing over HTTP installs, enables or runs a program",
        "control needs its secret; plugins wait for a person",
        shown_by(
            "tests/server/web/test_control.py",
            "tests/server/plugins/test_service.py",
            "tests/server/plugins/test_approvals.py",
            "tests/server/plugins/python/test_host.py",
        ),
    ),
    Row(
        "S25",
        "What a model writes is shown as text: no script, no picture from elsewhere",
        "all inert",
        shown_by(
            "tests/app/chat/test_markdown.py",
            "tests/server/system/test_logs.py::test_terminal_control_codes_are_dropped",
        ),
    ),
    Row(
        "S35",
        "No press of a key allows a foreign page that nobody chose",
        "focus never on Allow; the end of the host shown whole",
        shown_by(
            "tests/app/shell/test_window.py::test_the_keyboard_never_falls_on_another_button",
            "tests/app/connect/test_visitors.py",
        ),
    ),
    Row(
        "S36",
        "A model's answer does not stop the window",
        "a bounded part is drawn; all of it is there as text",
        shown_by("tests/app/chat/test_draw_budget.py"),
    ),
    Row(
        "S26",
        "A tampered announcement of a new version is not believed, and nothing is fetched or run",
        "all refused; nothing asked unless turned on",
        shown_by("tests/server/core/test_updates.py"),
    ),
)
