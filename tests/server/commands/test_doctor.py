"""Each finding says how bad it is and what to do; the table is readable."""

import json
import os
import socket
from pathlib import Path

import pytest

from server.commands import doctor
from server.commands.doctor import CheckResult
from server.system import paths
from server.system.hardware import Processor
from server.web.listener import Occupant, who_listens
from tests.kit import without_rights

GB = 1024**3


def test_the_whole_report_on_this_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor.main() == 0
    printed = capsys.readouterr().out
    assert "llama-cpp-python" in printed
    assert "SmolLM2" in printed
    assert "\x1b[" not in printed


def test_the_columns_are_aligned_and_advice_is_indented() -> None:
    findings = [CheckResult("A", "ok", "fine"), CheckResult("Longer", "problem", "bad", "do this")]
    assert doctor.table(findings, 80, colour=False).splitlines() == [
        "ok       A       fine",
        "problem  Longer  bad",
        "                 > do this",
    ]


def test_long_text_is_wrapped_but_a_path_stays_whole() -> None:
    path = "/a-very-long/path-that-does/not-fit-into-the/narrow-terminal-window"
    lines = doctor.table([CheckResult("T", "ok", f"see {path}")], 40, colour=False).splitlines()
    assert [line.strip() for line in lines] == ["ok       T  see", path]


def test_colours_are_for_terminals() -> None:
    assert "\x1b[31mproblem" in doctor.table([CheckResult("T", "problem", "x")], 80, colour=True)


@pytest.mark.parametrize(
    ("features", "verdict"), [(("avx", "avx2"), "ok"), (("sse4_2",), "warn"), ((), "ok")]
)
def test_an_old_x86_processor_is_worth_a_warning(features: tuple[str, ...], verdict: str) -> None:
    found = doctor.check_processor(Processor("x86_64", "Old One", features))
    assert found.verdict == verdict
    assert "Old One" in found.text


def test_little_free_memory_is_a_warning() -> None:
    assert doctor.check_memory(16 * GB, 8 * GB).verdict == "ok"
    assert doctor.check_memory(16 * GB, 1 * GB).verdict == "warn"


def test_a_card_the_engine_cannot_use_comes_with_the_command() -> None:
    (found,) = doctor.check_graphics(["NVIDIA H200, 141 GB"], {"gpu": False}, Path("/here"))
    assert found.verdict == "warn"
    assert "moat graphics get" in found.advice
    (found,) = doctor.check_graphics(["Radeon (Vulkan)"], {"gpu": False}, Path("/here"))
    assert "put the backend vulkan into /here" in found.advice
    by_vulkan = {"gpu": True, "devices": [{"backend": "Vulkan"}]}
    (used,) = doctor.check_graphics(["NVIDIA H200, 141 GB"], by_vulkan, None)
    assert (used.verdict, used.advice) == ("ok", doctor.FETCH)
    by_cuda = {"gpu": True, "devices": [{"backend": "CUDA"}]}
    (used,) = doctor.check_graphics(["NVIDIA H200, 141 GB"], by_cuda, None)
    assert (used.verdict, used.advice) == ("ok", "")


def test_an_engine_that_cannot_run_is_a_problem_with_its_cause() -> None:
    found = doctor.check_engine({"error": "it ended with code -4: Illegal instruction"})
    assert found.verdict == "problem"
    assert "Illegal instruction" in found.text
    assert found.advice


def test_a_missing_starter_is_a_problem() -> None:
    assert doctor.check_starter(None).verdict == "problem"


def test_a_folder_that_does_not_exist_yet_is_judged_by_its_parent(tmp_path: Path) -> None:
    found = doctor.check_folder("Models in", tmp_path / "not" / "yet")
    assert str(tmp_path / "not" / "yet") in found.text
    assert found.verdict in ("ok", "warn")


def test_a_file_where_a_folder_should_be_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    found = doctor.check_folder("Models in", tmp_path / "file" / "models")
    assert found.verdict == "problem"
    assert "MOAT_HOME" in found.advice


def test_whoever_listens_on_the_port_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        found = doctor.check_port(port, who_listens, paths.find())
    assert found.verdict == "warn"
    assert str(os.getpid()) in found.text


def test_a_free_port_is_fine() -> None:
    assert doctor.check_port(7777, lambda _port: None, paths.find()).verdict == "ok"


def test_a_running_moat_is_recognised() -> None:
    places = paths.find()
    places.make()
    places.control.write_text(json.dumps({"pid": 4711}))
    found = doctor.check_port(7777, lambda _port: Occupant("moat", 4711), places)
    assert found.verdict == "ok"
    assert "running" in found.text


def test_without_a_keyring_the_fallback_is_named() -> None:
    found = doctor.check_keyring(paths.find().secrets)
    assert found.verdict == "warn"
    assert "unencrypted" in found.text


def test_a_linux_without_display_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.sys, "platform", "linux")
    (found,) = doctor.check_screen({})
    assert "headless" in found.text


def test_gnome_needs_an_extension_for_the_tray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.sys, "platform", "linux")
    window, tray = doctor.check_screen({"DISPLAY": ":0", "XDG_CURRENT_DESKTOP": "ubuntu:GNOME"})
    assert window.verdict == "ok"
    assert tray.verdict == "warn"


def test_the_variant_chosen_for_this_processor_is_named() -> None:
    engine = {"version": "1", "system": "CPU", "variant": "haswell", "refused": {}}
    finding = doctor.check_engine(engine)
    assert finding.verdict == "ok"
    assert "processor backend haswell" in finding.text


def test_the_llama_cpp_inside_is_named() -> None:
    engine = {"version": "1", "ggml": "0.25.3 (0c1e570)", "system": "CPU", "refused": {}}
    assert doctor.check_engine(engine).text == (
        "llama-cpp-python 1 with ggml 0.25.3 (0c1e570): CPU"
    )


def test_a_variant_that_failed_its_trial_is_named() -> None:
    engine = {"version": "1", "system": "CPU", "variant": "haswell", "refused": {"zen4": "it died"}}
    finding = doctor.check_engine(engine)
    assert finding.verdict == "warn"
    assert "zen4: it died" in finding.advice


def test_added_backends_are_told_with_those_that_do_not_fit(tmp_path: Path) -> None:
    for name in ("libggml-vulkan.so", "libggml-cuda.so"):
        (tmp_path / name).touch()
    used, unused = sorted(
        doctor.check_backends({"added": ["vulkan"]}, tmp_path), key=lambda one: one.verdict
    )
    assert (used.verdict, used.text) == ("ok", f"vulkan in {tmp_path}")
    assert unused.verdict == "warn"
    assert "cuda" in unused.text


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX system")
def test_a_folder_that_may_not_be_reached_is_a_problem() -> None:
    imports = "from pathlib import Path\nfrom server.commands.doctor import check_folder"
    work = "print(check_folder('Models in', Path(sys.argv[1])).verdict)"
    with without_rights.folders() as (_opened, locked):
        without_rights.lock(locked)
        assert without_rights.said(imports, work, locked / "home" / "models") == "problem\n"


def test_what_the_engine_can_do_is_a_list_of_names() -> None:
    system = "CPU : SSE3 = 1 | AVX2 = 1 | REPACK = 1 | "
    engine = {"version": "1", "ggml": "0.25.3 (0c1e570-dirty)", "system": system, "refused": {}}
    assert doctor.check_engine(engine).text == (
        "llama-cpp-python 1 with ggml 0.25.3 (0c1e570): CPU: SSE3, AVX2, REPACK"
    )


@pytest.mark.parametrize("content", ["[]", "7", '{"pid": null}', "{", '{"pid": "x"}'])
def test_a_damaged_control_file_names_no_process(tmp_path: Path, content: str) -> None:
    (tmp_path / "control.json").write_text(content)
    assert doctor._own_pid(tmp_path / "control.json") == 0


def test_an_engine_that_cannot_be_started_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.processes, "command", lambda *_words: ["/nowhere/worker"])
    assert "cannot be started" in doctor.ask_engine()["error"]
