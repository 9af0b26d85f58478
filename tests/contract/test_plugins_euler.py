"""Loads plugins in EulerCopilot's form: each loads, or its defects are reported exactly."""

from collections import Counter
from pathlib import Path

import pytest

from server.data.yaml_with_places import Findings, read_file
from server.plugins.api import operations as openapi
from server.plugins.folder import Loaded, load

DATA = Path(__file__).resolve().parents[1] / "data"
ID = ("warning", "id")
NO_END = ("warning", "no-end")
EXPECTED = {
    "Compatibility-AI-Infra": (
        "warnings", 3, 3,
        {ID: 1, ("warning", "schema-type"): 1, NO_END: 3, ("warning", "flow-file-name"): 3},
    ),
    "fleet-workshop": (
        "warnings", 41, 21,
        {
            ID: 1, ("warning", "oidc"): 1, ("warning", "method"): 2,
            ("warning", "parameter-bare"): 2, ("warning", "schema-type"): 3,
            ("warning", "answer-type"): 2,
        },
    ),
    "euler-copilot-rca": ("warnings", 4, 4, {ID: 1, NO_END: 3}),
    "euler-copilot-tune": ("warnings", 3, 3, {ID: 1, NO_END: 3}),
    "HelloWord": (
        "warnings", 0, 0, {ID: 1, ("warning", "empty"): 1, ("warning", "entry"): 1},
    ),
    "example_plugin": (
        "broken", 0, 1,
        {
            ID: 1, ("warning", "auth-empty"): 1, ("error", "syntax"): 1, ("error", "endpoint"): 1,
            ("warning", "next-flow"): 2, ("warning", "flow-file-name"): 1,
        },
    ),
}  # fmt: skip


def loaded(name: str) -> Loaded:
    return load(DATA / "plugins" / name)


@pytest.mark.parametrize("name", EXPECTED)
def test_findings_are_the_expected_ones(name: str) -> None:
    state, operations, flows, codes = EXPECTED[name]
    plugin = loaded(name)
    assert Counter((one.level, one.code) for one in plugin.findings) == codes
    assert plugin.state == state
    assert len(plugin.api.operations if plugin.api else ()) == operations
    assert len(plugin.flows) == flows


def test_the_sdk_example_is_placed_to_the_column() -> None:
    errors = [one for one in loaded("example_plugin").findings if one.level == "error"]
    assert [(one.file, one.line, one.column) for one in errors] == [
        ("flows/flow.yaml", 19, 17),
        ("openapi.yaml", 37, 33),
    ]
    assert "single quotes" in errors[1].hint


def documents() -> list[str]:
    return [
        "museum-3.1.yaml", "petstore-3.0.yaml", "polygon-finance-3.0.json", "uspto-3.0.yaml",
        "xkcd-3.0.json", "edge/circular-3.0.yaml", "edge/file-uploads-3.0.yaml",
        "edge/form-data-3.0.yaml", "edge/parameters-style-3.0.yaml",
        "edge/schema-circular-3.0.yaml", "edge/schema-encoding-style-3.1.yaml",
        "edge/schema-types-3.1.yaml", "edge/server-variables-3.0.yaml",
    ]  # fmt: skip


@pytest.mark.parametrize("name", documents())
def test_real_documents_load(name: str) -> None:
    findings = Findings(name)
    path = DATA / "openapi" / name
    api = openapi.parse(read_file(path, name, findings), findings)
    assert api is not None
    assert api.operations
    assert api.server
    assert [one for one in findings.found if one.level == "error"] == []
