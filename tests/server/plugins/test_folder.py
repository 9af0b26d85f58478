"""Defects of a plugin's files: all found, placed, hinted; the rest of the plugin still works."""

import json
from pathlib import Path

import pytest

from server.plugins.folder import load

OPENAPI = """openapi: 3.0.0
info: {title: t, version: '1'}
servers:
  - url: 'http://127.0.0.1:9'
paths:
  /url:
    post:
      description: d
      requestBody:
        content:
          application/json:
            schema: {type: object, properties: {a: {type: string}}}
      responses: {'200': {description: x}}
"""


def findings_of(folder: Path, manifest: object, openapi: str = "") -> list[str]:
    folder.mkdir(exist_ok=True)
    text = manifest if isinstance(manifest, str) else json.dumps(manifest)
    (folder / "plugin.json").write_text(text)
    if openapi:
        (folder / "openapi.yaml").write_text(openapi)
    found = [str(finding) for finding in load(folder).findings]
    return [one for one in found if " warning empty " not in one]


GOOD = {"id": "p", "name": "P", "description": "d"}


@pytest.mark.parametrize(
    ("manifest", "stands_at", "expected"),
    [
        ([], "[", "error manifest"),
        ({"name": "P"}, "{", "error missing"),
        ({**GOOD, "name": ""}, '""', "error missing"),
        ({**GOOD, "nme": 1}, '"nme"', "warning unknown-key"),
        ({**GOOD, "name": "fifteen letters"}, '"fifteen', "warning name-length"),
        ({**GOOD, "auth": {"type": "heder"}}, '"heder"', "error auth"),
        (
            {**GOOD, "auth": {"type": "param", "args": {"k": "value"}}},
            '"value"',
            "warning auth-plain",
        ),
        ({**GOOD, "version": "one"}, '"one"', "warning version"),
        ({**GOOD, "hosts": ["ftp://x"]}, '"ftp', "error host"),
        ({**GOOD, "database": {"path": "../x"}}, '{"path"', "error database"),
        ({**GOOD, "database": {"path": "C:/x"}}, '{"path"', "error database"),
        ({**GOOD, "database": {"path": "c:x.db"}}, '{"path"', "error database"),
        ({**GOOD, "database": {"path": "/x"}}, '{"path"', "error database"),
        ({**GOOD, "database": {"path": "a\\..\\..\\x"}}, '{"path"', "error database"),
        ({**GOOD, "database": {"path": "x", "tables": "one"}}, '"one"', "error database"),
        ({**GOOD, "hosts": "h"}, '"h"', "error host"),
        ({**GOOD, "options": {"name": "a"}}, '{"name": "a"', "error option"),
        ({**GOOD, "secrets": 5}, "5", "error secret"),
        ({**GOOD, "mcp": {"s": {"command": "c", "args": "-v"}}}, '"-v"', "error mcp"),
        ({**GOOD, "mcp": {"s": {"command": "c", "args": 5}}}, "5", "error mcp"),
        ({**GOOD, "mcp": {"s": {"command": "c", "env": ["x"]}}}, '["x"]', "error mcp"),
        ({**GOOD, "mcp": {"s": {"url": "http://h", "headers": "x"}}}, '"x"', "error mcp"),
        ({**GOOD, "mcp": {"s": {}}}, "{}", "error mcp"),
        ({**GOOD, "mcp": {"s": {"url": "http://h:99999"}}}, '{"url"', "error mcp"),
        ({**GOOD, "hosts": ["http://@[]"]}, '"http://@[]"', "error host"),
        ({**GOOD, "options": [{"name": "a", "kind": "b"}]}, '{"name": "a"', "error option"),
    ],
)
def test_defects_of_plugin_json(
    tmp_path: Path, manifest: object, stands_at: str, expected: str
) -> None:
    (found,) = findings_of(tmp_path / "p", manifest)
    column = json.dumps(manifest).index(stands_at) + 1
    assert found.startswith(f"plugin.json:1:{column} {expected} ")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("openapi: 3.0.0", "openapi: 2.0.0", "openapi.yaml:1:10 error openapi-version "),
        ("127.0.0.1:9", "example.com:port/suffix", "openapi.yaml:4:10 error server "),
        ("http://127.0.0.1:9", "/relative", "openapi.yaml:4:10 warning server-relative "),
        ("schema: {type", "schema: [{type", "openapi.yaml:12:21 error schema "),
        ("application/json", "application/xml", "openapi.yaml:11:11 warning media-type "),
        ("      responses", "      answers", "openapi.yaml:7:5 warning responses "),
        ("type: string", "type: strng", "openapi.yaml:12:59 warning schema-type "),
        ("description: d", "parameters: [{in: query}]", "openapi.yaml:8:20 error parameter "),
        ("  /url:", "  /url:\n    get: 5", "openapi.yaml:7:10 error operation "),
    ],
)
def test_defects_of_openapi_yaml(tmp_path: Path, old: str, new: str, expected: str) -> None:
    text = OPENAPI.replace(old, new)
    text = text.replace("string}}}\n", "string}}}]\n") if "[{type" in new else text
    found = findings_of(tmp_path / "p", GOOD, text)
    assert any(one.startswith(expected) for one in found), found


def test_a_good_plugin_has_no_findings(tmp_path: Path) -> None:
    assert findings_of(tmp_path / "p", GOOD, OPENAPI) == []


@pytest.mark.parametrize("version", ["3.0.4", "3.1.1", "3.2.0"])
def test_each_version_three_is_read(tmp_path: Path, version: str) -> None:
    assert findings_of(tmp_path / "p", GOOD, OPENAPI.replace("3.0.0", version)) == []


def test_the_methods_of_the_newest_version_are_known_or_named(tmp_path: Path) -> None:
    text = OPENAPI.replace("3.0.0", "3.2.0").replace("    post:", "    query:")
    assert findings_of(tmp_path / "p", GOOD, text) == []
    api = load(tmp_path / "p").api
    assert api
    (operation,) = api.operations.values()
    assert (operation.key, operation.risk) == ("QUERY /url", "change")
    own = "  /url:\n    additionalOperations: {COPY: {}}\n"
    (found,) = findings_of(tmp_path / "p", GOOD, text.replace("  /url:\n", own))
    assert found.startswith("openapi.yaml:7:27 warning methods ")


def test_code_that_is_no_python_is_placed(tmp_path: Path) -> None:
    (tmp_path / "p" / "lib").mkdir(parents=True)
    (tmp_path / "p" / "lib" / "__init__.py").write_text("x = 1\ndef broken(:\n")
    (found,) = findings_of(tmp_path / "p", GOOD)
    assert found.startswith("lib/__init__.py:2:12 error syntax ")


def test_links_and_masses_of_files_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "link").symlink_to("/etc")
    (found,) = findings_of(folder, GOOD)
    assert " error symlink " in found
    (folder / "link").unlink()
    for number in range(600):
        (folder / f"f{number}").touch()
    (found,) = findings_of(folder, GOOD)
    assert " error too-large " in found


@pytest.mark.parametrize(
    ("scheme", "place", "args"),
    [
        ("{type: apiKey, in: query, name: key}", "query", {"key": "${secret:own}"}),
        ("{type: http, scheme: bearer}", "header", {"Authorization": "Bearer ${secret:own}"}),
    ],
)
def test_the_description_may_say_how_to_sign_in(
    tmp_path: Path, scheme: str, place: str, args: dict[str, str]
) -> None:
    schemes = f"security: [{{own: []}}]\ncomponents: {{securitySchemes: {{own: {scheme}}}}}\n"
    assert findings_of(tmp_path / "p", GOOD, OPENAPI + schemes) == []
    api = load(tmp_path / "p").api
    assert api
    assert api.auth
    assert (api.auth.place, api.auth.args) == (place, args)


def test_native_code_and_refused_imports_are_told(tmp_path: Path) -> None:
    (tmp_path / "p" / "lib").mkdir(parents=True)
    (tmp_path / "p" / "lib" / "hidden.dat").write_bytes(b"\x7fELF and more")
    (tmp_path / "p" / "lib" / "a.so").write_bytes(b"x")
    (tmp_path / "p" / "lib" / "t.py").write_text("def f():\n    from ctypes import CDLL\n")
    found = findings_of(tmp_path / "p", GOOD)
    assert [one.split(" warning ")[1].split()[0] for one in found if "warning" in one] == [
        "native", "native", "refused-import",
    ]  # fmt: skip


def test_the_program_of_an_mcp_server_is_part_of_the_plugin(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    for name in ("server.py", "programs/other.py", "stray.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    servers = {
        "a": {"command": "python3", "args": ["./server.py"]},
        "b": {"command": "python3", "args": ["programs/other.py"]},
    }
    (found,) = findings_of(folder, {**GOOD, "mcp": servers})
    assert "'stray.py' is not part of a plugin" in found


@pytest.mark.parametrize(
    ("given", "lacks"), [("schema: {type: string}", "description"), ("description: d", "schema")]
)
def test_what_a_parameter_lacks_is_named(tmp_path: Path, given: str, lacks: str) -> None:
    parameter = f"parameters: [{{name: q, in: query, {given}}}]"
    text = OPENAPI.replace("description: d", f"description: d\n      {parameter}")
    (found,) = findings_of(tmp_path / "p", GOOD, text)
    assert found.endswith(f"The parameter 'q' has no {lacks}.")


@pytest.mark.parametrize("path", ["data/x.db", "x..y.db", "${option:file}"])
def test_a_database_inside_the_plugin_is_taken(tmp_path: Path, path: str) -> None:
    findings_of(tmp_path / "p", {**GOOD, "database": {"path": path, "tables": ["one"]}})
    loaded = load(tmp_path / "p").manifest
    assert loaded is not None
    assert (loaded.database, loaded.tables) == (path, ("one",))
