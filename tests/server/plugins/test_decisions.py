"""What was decided about plugins outlives versions."""

import json
from dataclasses import replace
from pathlib import Path

from server.plugins.plugin import Decided, Decisions


def test_a_decision_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "plugins.json"
    Decisions(path).set("files", Decided(enabled=True, options={"folder": "/data"}))
    assert Decisions(path).get("files") == Decided(enabled=True, options={"folder": "/data"})
    assert Decisions(path).get("other") == Decided()


def test_what_a_newer_version_decided_survives_an_older_one(tmp_path: Path) -> None:
    path = tmp_path / "plugins.json"
    path.write_text(json.dumps({"files": {"enabled": True, "limit": 3}}))
    kept = Decisions(path)
    assert kept.get("files").enabled
    kept.set("files", replace(kept.get("files"), server="http://localhost:1"))
    kept.set("other", Decided(enabled=True))
    written = json.loads(path.read_text())
    assert written["files"]["limit"] == 3
    assert written["files"]["server"] == "http://localhost:1"
    assert "more" not in written["files"]


def test_an_entry_in_another_form_disables_its_plugin_only_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "plugins.json"
    odd = {"_form": 2, "shop": {"enabled": "yes"}}
    path.write_text(json.dumps({**odd, "files": {"enabled": True}}))
    kept = Decisions(path)
    assert kept.get("files").enabled
    assert not kept.get("shop").enabled
    kept.set("other", Decided())
    written = json.loads(path.read_text())
    assert odd.items() <= written.items()
    kept.set("shop", Decided(enabled=True))
    assert Decisions(path).get("shop").enabled
