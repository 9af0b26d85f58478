"""The bill of materials."""

import json
from pathlib import Path

import pytest

from scripts.package import bill, sums
from server.system.licenses import Component

PARTS = [
    Component("moat", "0.1.0", "Apache-2.0", "program"),
    Component("aiohttp", "3.14.5", "Apache-2.0", "library", "text"),
    Component("zlib1g", "1:1.2", "Zlib", "system library"),
    Component("SmolLM2-135M-Instruct", "1", "Apache-2.0", "model"),
]


@pytest.fixture(autouse=True)
def _moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1790000000")


def test_every_part_is_named_once_and_depended_on() -> None:
    made = bill.bill(PARTS)
    assert (made["bomFormat"], made["specVersion"]) == ("CycloneDX", "1.5")
    references = [part["bom-ref"] for part in made["components"]]
    assert len(set(references)) == 3
    assert made["dependencies"] == [{"ref": "moat", "dependsOn": sorted(references)}]
    assert made["metadata"]["timestamp"] == "2026-09-21T14:13:20Z"
    kinds = {part["name"]: part["type"] for part in made["components"]}
    assert kinds["SmolLM2-135M-Instruct"] == "machine-learning-model"


def test_packages_are_named_as_others_look_them_up() -> None:
    parts = [
        Component("llama_cpp_python", "0.3.36+cpu", "MIT"),
        Component("jaraco.classes", "3.4.0", "MIT"),
        Component("libstdc++6", "12.2.0-14+deb12u1", "GPL-3.0", "system library"),
        Component("zlib1g", "1:1.2", "Zlib", "system library"),
        Component("Qwen3 (chat template)", "", "Apache-2.0", "template"),
    ]
    assert [part.get("purl") for part in bill.bill(parts)["components"]] == [
        "pkg:pypi/llama-cpp-python@0.3.36%2Bcpu",
        "pkg:pypi/jaraco-classes@3.4.0",
        "pkg:deb/debian/libstdc%2B%2B6@12.2.0-14%2Bdeb12u1",
        "pkg:deb/debian/zlib1g@1:1.2",
        None,
    ]


def test_the_same_parts_make_the_same_bill(tmp_path: Path) -> None:
    bill.write(tmp_path / "one.json", PARTS)
    bill.write(tmp_path / "two.json", PARTS)
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    assert json.loads((tmp_path / "one.json").read_text()) == bill.bill(PARTS)
    assert bill.bill(PARTS[:2])["serialNumber"] != bill.bill(PARTS)["serialNumber"]


def test_sums_can_be_checked_and_forget_what_is_gone(tmp_path: Path) -> None:
    (tmp_path / "a.deb").write_bytes(b"abc")
    (tmp_path / "b.deb").write_bytes(b"")
    sums.write([tmp_path / "a.deb"], tmp_path)
    path = sums.write([tmp_path / "b.deb"], tmp_path)
    assert path.read_text().splitlines() == [
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a.deb",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  b.deb",
    ]
    (tmp_path / "a.deb").unlink()
    assert "a.deb" not in sums.write([], tmp_path).read_text()
