import pytest

from server.engine.causes import of_exit


@pytest.mark.parametrize(
    ("code", "clause"),
    [
        (-11, "killed by signal 11 (segmentation fault)"),
        (-9, "killed by signal 9 (killed, perhaps because memory ran out)"),
        (-4, "killed by signal 4 (an instruction this processor does not have)"),
        (-10, "killed by signal 10 (SIGUSR1)"),
        (-250, "killed by signal 250 (unknown)"),
        (0, "it exited by itself (code 0)"),
        (3, "it exited by itself (code 3)"),
        (0xC0000005, "ended with code 0xc0000005 (access violation)"),
    ],
)
def test_an_exit_code_is_a_clause(code: int, clause: str) -> None:
    assert of_exit(code) == clause
