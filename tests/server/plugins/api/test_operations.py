"""Odd descriptions of an API are read or reported, and odd arguments are sent as they can be."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from server.data.yaml_with_places import Findings, read
from server.plugins.api import operations
from server.plugins.api.action import Outgoing, _read_files, compose

ANSWER = "responses: {'200': {description: x}}"


def parsed(operation: str) -> tuple[operations.Operation, list[str]]:
    findings = Findings("openapi.yaml")
    text = "openapi: 3.0.0\nservers: [{url: 'https://a.example'}]\npaths:\n"
    text += f"  /a:\n    post: {operation}\n"
    api = operations.parse(read(text.encode(), findings), findings)
    assert api
    return api.operations["POST /a"], [found.code for found in findings.found]


def with_body(schema: str, media: str = "application/json", more: str = "") -> str:
    return f"{{{more}requestBody: {{content: {{{media}: {{schema: {schema}}}}}}}, {ANSWER}}}"


def composed(operation: str, arguments: dict[str, Any]) -> Outgoing:
    return compose("https://a.example", parsed(operation)[0], arguments)


def test_a_reference_that_is_no_text_is_told() -> None:
    operation, found = parsed(f"{{parameters: [{{$ref: 5}}], {ANSWER}}}")
    assert found == ["parameter"]
    assert operation.parts.parameters == ()


@pytest.mark.parametrize("given", ["5", "text", "{a: 1}"])
def test_shapes_that_are_no_list_break_nothing(given: str) -> None:
    for key in ("anyOf", "oneOf", "allOf"):
        operation, _ = parsed(with_body(f"{{{key}: {given}}}"))
        assert operation.parts.body


def test_a_parameter_and_a_body_that_share_a_name_are_two_arguments() -> None:
    named = "parameters: [{name: body, in: query, description: d, schema: {type: string}}], "
    described = with_body("{type: array, items: {type: string}}", more=named)
    assert list(parsed(described)[0].parts.schema["properties"]) == ["body@query", "body"]
    outgoing = composed(described, {"body@query": "q", "body": ["x"]})
    assert (outgoing.query, outgoing.body()) == ([("body", "q")], b'["x"]')


def test_a_body_that_is_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "f.txt").write_bytes(b"held")
    described = with_body("{type: string, format: binary}", "multipart/form-data")
    outgoing = composed(described, {"body": "f.txt"})
    outgoing.held = _read_files(outgoing, {"f.txt": str(tmp_path / "f.txt")})
    sent = outgoing.body()
    assert sent
    assert b'name="body"; filename="f.txt"' in sent
    assert b"\r\n\r\nheld\r\n" in sent


def test_a_cookie_cannot_add_another() -> None:
    described = f"{{parameters: [{{name: c, in: cookie, schema: {{type: string}}}}], {ANSWER}}}"
    assert composed(described, {"c": "a; session=b"}).cookies == {"c": "a%3B session=b"}


@pytest.mark.parametrize(
    "media", ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"]
)
def test_half_a_surrogate_pair_is_replaced(media: str) -> None:
    named = "parameters: [{name: q, in: query, description: d, schema: {type: string}}], "
    described = with_body("{type: object, properties: {x: {type: string}}}", media, named)
    outgoing = composed(described, {"q": "a\ud83d", "x": "b\ud83d"})
    assert outgoing.address == "https://a.example/a?q=a%3F"
    sent = outgoing.body()
    assert sent
    assert b"b?" in sent or b"b%3F" in sent


def test_half_a_surrogate_pair_is_replaced_in_a_path_and_a_header() -> None:
    taken = "[{name: a, in: path, schema: {}}, {name: h, in: header, schema: {}}]"
    operation, _ = parsed(f"{{parameters: {taken}, {ANSWER}}}")
    there = replace(operation, path="/{a}")
    outgoing = compose("https://a.example", there, {"a": "a\ud83d", "h": "b\ud83d"})
    assert outgoing.url == "https://a.example/a%3F"
    assert outgoing.headers == {"h": "b?"}
