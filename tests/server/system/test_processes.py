"""Another role is started from this program's own folder, and inherits no secret."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from server.system import processes


def test_a_role_of_the_source_tree_is_a_module() -> None:
    assert processes.command("serve", "--port", "1") == [
        sys.executable, "-P", "-m", "app", "serve", "--port", "1",
    ]  # fmt: skip


def test_a_role_of_a_frozen_build_is_an_option(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert processes.command("worker") == [sys.executable, "--role", "worker"]
    assert "PYTHONPATH" not in processes.environment("worker")


def test_an_installed_window_is_started_by_the_name_of_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "__init__.py").touch()
    monkeypatch.setattr(processes, "_PROGRAM_FOLDER", tmp_path)
    assert processes.command("window", "--hidden")[-2:] == [tmp_path.name, "--hidden"]
    assert processes.command("serve")[-2:] == ["app", "serve"]


def test_an_engine_that_lies_apart_is_found_by_every_role(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOAT_ENGINE", "/apart")
    folders = processes.environment("worker")["PYTHONPATH"].split(os.pathsep)
    assert folders[1:] == ["/apart"]


@pytest.mark.parametrize("role", ["worker", "serve"])
def test_secrets_stay_here(monkeypatch: pytest.MonkeyPatch, role: processes.Role) -> None:
    for name in ("HF_TOKEN", "MOAT_API_KEY", "db_password", "CUDA_SECRET", "AWS_ACCESS_KEY"):
        monkeypatch.setenv(name, "hush")
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    environment = processes.environment(role)
    assert "hush" not in environment.values()
    assert environment["OMP_NUM_THREADS"] == "3"
    assert environment[processes.PARENT] == str(os.getpid())


@pytest.mark.parametrize("role", ["worker", "render", "tools", "sheets"])
def test_a_secret_for_the_server_reaches_no_other_role(
    monkeypatch: pytest.MonkeyPatch, role: processes.Role
) -> None:
    for name in ("MOAT_SECRET_HUB_TOKEN", "MOAT_SECRET_WEATHER"):
        monkeypatch.setenv(name, "hush")
        assert processes.environment("serve")[name] == "hush"
    assert "hush" not in processes.environment(role).values()


def test_a_worker_sees_only_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/bus")
    monkeypatch.setenv("HTTPS_PROXY", "http://user:word@proxy")
    assert "DBUS_SESSION_BUS_ADDRESS" in processes.environment("serve")
    assert not {"DBUS_SESSION_BUS_ADDRESS", "HTTPS_PROXY"} & processes.environment("worker").keys()


def test_the_users_own_tuning_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "WORKER_TUNING", {"OMP_A": "ours", "OMP_B": "ours"})
    monkeypatch.setenv("OMP_A", "theirs")
    environment = processes.environment("worker")
    assert (environment["OMP_A"], environment["OMP_B"]) == ("theirs", "ours")


def test_code_where_the_user_stands_is_not_run(tmp_path: Path) -> None:
    (tmp_path / "server").mkdir()
    (tmp_path / "server" / "__init__.py").write_text("raise SystemExit('foreign code')")
    python, safe_path, _, *_ = processes.command("worker")
    found = subprocess.run(
        [python, safe_path, "-c", "import server; print(server.__file__)"],
        cwd=tmp_path,
        env=processes.environment("worker"),
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(found.stdout.strip()).is_relative_to(Path(processes.__file__).parents[1])
