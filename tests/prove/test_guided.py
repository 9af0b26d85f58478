"""The output of the guided fuzzer is read correctly: a defect fails the row and is named."""

from tests.prove.guided import told

CALM = """\
#2\tINITED cov: 107 ft: 107 corp: 1/689b exec/s: 0 rss: 73Mb
#4142\tDONE   cov: 161 ft: 283 corp: 15/7640b lim: 689 exec/s: 376 rss: 77Mb
Done 4142 runs in 11 second(s)
"""
BROKEN = """\
#5\tNEW    cov: 9 ft: 3 corp: 2/2b lim: 4 exec/s: 0 rss: 37Mb
 === Uncaught Python exception: ===
KeyError: 'role'
Traceback (most recent call last):
==1== ERROR: libFuzzer: fuzz target exited
Done 6 runs in 0 second(s)
"""


def test_a_calm_end_tells_runs_and_reach() -> None:
    guided = told(0, CALM)
    assert guided.held
    assert guided.text == "guided 4,142 runs, 161 places reached"


def test_a_defect_is_named() -> None:
    guided = told(77, BROKEN)
    assert not guided.held
    assert "KeyError: 'role'" in guided.text


def test_a_fuzzer_that_did_not_run_holds_nothing() -> None:
    assert not told(0, "").held
    assert "No module named atheris" in told(1, "ModuleNotFoundError: No module named atheris").text
