import pytest

from server.data.yaml_with_places import Findings, read
from server.flows import spec

KNOWN = spec.Known(("GET /api/test", "DELETE /conf"), ("own_tool",), ("time",))


def findings_of(text: str, known: spec.Known = KNOWN) -> list[str]:
    findings = Findings("flows/f.yaml")
    data = read(text.encode(), findings)
    spec.parse("p", data, known, findings)
    return [str(one) for one in findings.found]


def step(text: str) -> str:
    return (
        f"name: f\ndescription: d\nsteps:\n  - name: start\n{text}  - name: end\n"
        "    call_type: none\n"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "    call_type: api\n    params:\n      endpoint: POST /conf\n",
            "flows/f.yaml:7:17 error endpoint There is no endpoint 'POST /conf'. "
            "[Did you mean 'DELETE /conf'?]",
        ),
        (
            "    call_type: ap\n",
            "flows/f.yaml:5:16 error call-type There is no call type and no tool 'ap'. "
            "[Did you mean 'api'?]",
        ),
        (
            "    call_type: own_tol\n",
            "flows/f.yaml:5:16 error call-type There is no call type and no tool 'own_tol'. "
            "[Did you mean 'own_tool'?]",
        ),
        (
            "    call_type: none\n    next: ende\n",
            "flows/f.yaml:6:11 warning next There is no step 'ende': the flow ends after 'start'. "
            "[Did you mean 'end'?]",
        ),
        (
            "    call_type: none\n    nxt: end\n",
            "flows/f.yaml:6:5 warning unknown-key 'nxt' is unknown here and is ignored. "
            "[Did you mean 'next'?]",
        ),
        (
            "    call_type: choice\n    params: {choices: [{step: ent}]}\n",
            "flows/f.yaml:6:31 error choice-target There is no step 'ent' to choose. "
            "[Did you mean 'end'?]",
        ),
        (
            "    call_type: sql\n",
            "flows/f.yaml:4:5 error database A sql step needs a database in plugin.json. "
            '[Add "database": {"path": "data.sqlite"} to plugin.json.]',
        ),
        (
            "    call_type: extract\n",
            "flows/f.yaml:4:5 error keys An extract step needs a list 'keys' of dotted paths.",
        ),
        (
            "    call_type: mcp\n    params: {server: tim, tool: x}\n",
            "flows/f.yaml:6:22 error server There is no MCP server 'tim' in plugin.json. "
            "[Did you mean 'time'?]",
        ),
    ],
)
def test_a_defect_is_placed_and_hinted(text: str, expected: str) -> None:
    assert findings_of(step(text)) == [expected]


def test_the_newer_dialect_is_read_as_far_as_it_goes() -> None:
    found = findings_of(
        "id: f\ndescription: d\nsteps:\n"
        "  - {name: start, call_type: choice, confirm: true, next: a,"
        " params: {propose: why, choices: [{step: a}]}}\n"
        '  - {name: a, call_type: llm, params: {user_prompt: "{{ question }}"}}\n'
        "  - {name: end, call_type: reformat}\n"
        "next_flow: [{id: g, question: more}]\n"
    )
    assert [line.split(" ")[1:3] for line in found] == [
        ["warning", "dialect"], ["warning", "dialect"], ["warning", "dialect"],
        ["error", "dialect"], ["error", "dialect"], ["warning", "dialect"],
    ]  # fmt: skip


def test_all_defects_are_found_at_once() -> None:
    found = findings_of("name: 3\nsteps:\n  - {name: a}\n  - 5\n")
    assert [line.split(" ")[2] for line in found] == ["type", "missing", "missing", "step"]


@pytest.mark.parametrize("name", ["{a: b}", "[a]", "7"])
def test_a_name_that_is_no_text_breaks_nothing(name: str) -> None:
    text = "name: f\ndescription: d\nsteps:\n"
    text += f"  - name: {name}\n    call_type: none\n    next: nowhere\n"
    assert findings_of(text)


OWN = "    call_type: own_tool\n"


@pytest.mark.parametrize("given", ["tell", "[tell]", "5", "false"])
def test_an_on_error_that_is_no_step_is_told(given: str) -> None:
    assert findings_of(step(OWN) + f"on_error: {given}\n") == [
        "flows/f.yaml:8:11 warning on-error "
        "'on_error' must be a mapping with call_type and params. It is ignored."
    ]


def test_an_unknown_key_of_on_error_is_told() -> None:
    found = findings_of(step(OWN) + "on_error: {call_type: llm, parms: {}}\n")
    assert [line.split(" ")[1:3] for line in found] == [["warning", "unknown-key"]]


@pytest.mark.parametrize("given", ["text", "[a, b]", "5"])
@pytest.mark.parametrize("call", ["api\n    params: {endpoint: GET /api/test, ",
                                  "mcp\n    params: {server: time, tool: x, "])  # fmt: skip
def test_arguments_that_are_no_mapping_are_told(call: str, given: str) -> None:
    found = findings_of(step(f"    call_type: {call}arguments: {given}}}\n"))
    assert [line.split(" ", 1)[1] for line in found] == [
        "error type 'arguments' must be a mapping."
    ]
