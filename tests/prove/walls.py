"""S32 to S34: the system confines the code of plugins, it sends only through the door, and
changed files are reviewed."""

from tests.prove.by_test import shown_by
from tests.prove.rows import Row

WALLS = "tests/server/plugins/walls/test_walls.py"
HOUSE = "tests/server/plugins/test_service.py"

ROWS = (
    Row(
        "S32",
        "Plugin code tries to escape: files, processes, /proc, ptrace, keyring, memory, X11, D-Bus",
        "each is refused by the system, with the audit hook off",
        shown_by(
            f"{WALLS}::test_an_escape_is_refused_by_the_system",
            f"{WALLS}::test_of_the_home_only_the_way_to_python_is_there",
            f"{WALLS}::test_a_second_answer_never_becomes_the_answer_of_a_later_call",
        ),
    ),
    Row(
        "S33",
        "A plugin's program sends by itself",
        "only to accepted hosts, and recorded; never by another way",
        shown_by(f"{WALLS}::test_a_program_reaches_only_accepted_hosts_and_is_recorded"),
    ),
    Row(
        "S34",
        "Any file of an enabled plugin changes",
        "it waits for a new review, which names the file",
        shown_by(
            f"{HOUSE}::test_any_changed_file_waits_for_a_review",
            f"{HOUSE}::test_a_changed_flow_is_read_at_once_and_waits_for_a_review",
        ),
    ),
)
