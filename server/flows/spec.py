"""Reads flows/*.yaml, in both dialects, and reports every defect with its line and column."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from server.data.yaml_with_places import At, Findings, Map, Seq, key_at, nearest, start_of, value_at
from server.flows.base import Flow, Follow, Step
from server.flows.steps import STEPS

MAX_STEPS = 64
"""The most steps in the file of a flow."""
FLOW_KEYS = ("name", "id", "description", "steps", "on_error", "next_flow")
STEP_KEYS = ("name", "call_type", "params", "next", "dangerous", "confirm")
_JINJA = re.compile(r"\{%|\{\{\s+\w|\{\{\w+[.\[]|\{\{[^{}]*\|")
_NEWER = "The newer dialect of flows (0.9.3) is understood only in part."


@dataclass(frozen=True, slots=True)
class Known:
    """The names that the flows of a plugin may use."""

    endpoints: tuple[str, ...] = ()
    tools: tuple[str, ...] | None = ()
    """None if they become known only when the plugin's code runs."""
    servers: tuple[str, ...] = ()
    has_database: bool = False
    operations_note: str = ""
    """Why endpoints may be missing, to add to the error about one."""


@dataclass(slots=True)
class _Reading:
    plugin: str
    known: Known
    findings: Findings
    is_usable: bool = True
    names: list[str] = field(default_factory=list)

    def fail(self, at: At, code: str, message: str, hint: str = "") -> None:
        self.findings.error(at, code, message, hint)
        self.is_usable = False


def parse(plugin: str, data: Any, known: Known, findings: Findings) -> Flow | None:
    """Returns the flow, which can be unusable; None if it has no name or no steps."""
    reading = _Reading(plugin, known, findings)
    if not isinstance(data, Map):
        reading.fail(start_of(data), "flow", "A flow is a mapping with name, description, steps.")
        return None
    _unknown_keys(data, FLOW_KEYS, findings)
    name = _name(data, reading)
    description = _text(data, "description", reading)
    steps = _steps(data, reading)
    if name is None or not steps:
        return None
    _targets(data, steps, reading)
    return Flow(
        plugin, name, description or "", tuple(steps), _on_error(data, reading),
        _follows(data, findings), findings.file, reading.is_usable,
    )  # fmt: skip


def _on_error(data: Map, reading: _Reading) -> Step | None:
    given = data.get("on_error")
    if given is None:
        return None
    if not isinstance(given, Map):
        message = "'on_error' must be a mapping with call_type and params. It is ignored."
        reading.findings.warn(value_at(data, "on_error"), "on-error", message)
        return None
    _unknown_keys(given, STEP_KEYS, reading.findings)
    return _step({**given, "name": "on_error"}, given, reading)


def check_follows(flow: Flow, data: Map, names: tuple[str, ...], findings: Findings) -> None:
    listed = data.get("next_flow")
    for index, follow in enumerate(flow.follows):
        if follow.flow not in names:
            at = value_at(listed, index)
            message = f"next_flow names '{follow.flow}', which this plugin does not have."
            findings.warn(at, "next-flow", message, nearest(follow.flow, names))


def _name(data: Map, reading: _Reading) -> str | None:
    key = "name" if "name" in data else "id"
    if key == "id" and "id" in data:
        reading.findings.warn(key_at(data, "id"), "dialect", f"'id' is read as 'name'. {_NEWER}")
    name = _text(data, key, reading)
    if name is None:
        return None
    at = value_at(data, key)
    if "." in name or "/" in name:
        reading.findings.warn(at, "flow-name", "A flow's name should have no '.' or '/'.")
    stem = reading.findings.file.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    if name != stem:
        message = f"The flow is named '{name}', its file '{stem}'."
        reading.findings.warn(at, "flow-file-name", message)
    return name


def _text(data: Map, key: str, reading: _Reading) -> str | None:
    value = data.get(key)
    if isinstance(value, str) and value.strip():
        return value
    if key not in data:
        hint = next((nearest(key, [other]) for other in data if nearest(key, [other])), "")
        reading.fail(start_of(data), "missing", f"'{key}' is missing.", hint)
    else:
        reading.fail(value_at(data, key), "type", f"'{key}' must be a text that is not empty.")
    return None


def _steps(data: Map, reading: _Reading) -> list[Step]:
    listed = data.get("steps")
    if not isinstance(listed, Seq) or not listed:
        at = value_at(data, "steps")
        reading.fail(at, "steps", "'steps' must be a list with at least one step.")
        return []
    if len(listed) > MAX_STEPS:
        at = value_at(data, "steps")
        reading.fail(at, "steps", f"A flow has at most {MAX_STEPS} steps.")
    reading.names = [str(item.get("name")) for item in listed if isinstance(item, Map)]
    steps: list[Step] = []
    for index, item in enumerate(listed[:MAX_STEPS]):
        if not isinstance(item, Map):
            reading.fail(value_at(listed, index), "step", "A step is a mapping.")
            continue
        _unknown_keys(item, STEP_KEYS, reading.findings)
        step = _step(item, item, reading)
        if step is not None and any(step.name == other.name for other in steps):
            at = value_at(item, "name")
            reading.fail(at, "duplicate-step", f"There is already a step '{step.name}'.")
        elif step is not None:
            steps.append(step)
    if steps and "start" not in reading.names:
        message = "No step is named 'start': the flow begins with the first."
        reading.findings.warn(start_of(listed), "no-start", message)
    if steps and "end" not in reading.names:
        message = "No step is named 'end': the flow ends where 'next' is missing."
        reading.findings.warn(start_of(listed), "no-end", message)
    return steps


def _step(fields: Mapping[str, Any], source: Map, reading: _Reading) -> Step | None:
    found = {key: fields.get(key) for key in ("name", "call_type")}
    for key, value in found.items():
        if not isinstance(value, str) or not value:
            reading.fail(value_at(source, key), "missing", f"A step needs a text as '{key}'.")
            return None
    params = fields.get("params")
    if params is not None and not isinstance(params, Map):
        reading.fail(value_at(source, "params"), "type", "'params' must be a mapping.")
        params = None
    following = fields.get("next")
    step = Step(
        str(found["name"]), str(found["call_type"]), params or Map(start_of(source)),
        "" if following is None else str(following),
        bool(fields.get("dangerous") or fields.get("confirm")), start_of(source),
    )  # fmt: skip
    if "confirm" in source:
        at = key_at(source, "confirm")
        reading.findings.warn(at, "dialect", f"'confirm' is read as 'dangerous'. {_NEWER}")
    _check_call(step, source, reading)
    return step


def _check_call(step: Step, source: Map, reading: _Reading) -> None:
    at = value_at(source, "call_type")
    if step.call_type in STEPS:
        if check := _CHECKS.get(step.call_type):
            check(step, reading)
    elif step.call_type == "reformat":
        hint = "Use 'extract' with keys, or an 'llm' step."
        reading.fail(at, "dialect", f"'reformat' is not supported. {_NEWER}", hint)
    elif reading.known.tools is not None:
        name = step.call_type.removeprefix(f"{reading.plugin}.")
        if name not in reading.known.tools:
            hint = nearest(step.call_type, (*STEPS, *reading.known.tools))
            message = f"There is no call type and no tool '{step.call_type}'."
            reading.fail(at, "call-type", message, hint)


def _check_arguments(step: Step, reading: _Reading) -> None:
    given = step.params.get("arguments")
    if given is not None and not isinstance(given, Map):
        reading.fail(value_at(step.params, "arguments"), "type", "'arguments' must be a mapping.")


def _check_api(step: Step, reading: _Reading) -> None:
    _check_arguments(step, reading)
    endpoint = step.params.get("endpoint")
    at = value_at(step.params, "endpoint")
    if not isinstance(endpoint, str):
        reading.fail(at, "endpoint", "An api step needs 'endpoint', for example 'GET /items'.")
        return
    known = reading.known
    if " ".join(endpoint.split()) in known.endpoints:
        return
    path = endpoint.split()[-1] if endpoint.split() else ""
    same = [endpoint_name for endpoint_name in known.endpoints if endpoint_name.split()[-1] == path]
    hint = f"Did you mean '{same[0]}'?" if same else nearest(endpoint, known.endpoints)
    reason = f" {known.operations_note}" if known.operations_note else ""
    reading.fail(at, "endpoint", f"There is no endpoint '{endpoint}'.{reason}", hint)


def _check_llm(step: Step, reading: _Reading) -> None:
    for key in ("system_prompt", "user_prompt"):
        text = step.params.get(key)
        if isinstance(text, str) and _JINJA.search(text):
            at = value_at(step.params, key)
            hint = "Write {question}, {data}, {context} with single braces."
            reading.fail(at, "dialect", f"Jinja2 in a prompt is not supported. {_NEWER}", hint)


def _check_choice(step: Step, reading: _Reading) -> None:
    choices = step.params.get("choices")
    if "propose" in step.params:
        at = key_at(step.params, "propose")
        reading.findings.warn(at, "dialect", f"'propose' is read as 'instruction'. {_NEWER}")
    if not isinstance(choices, Seq) or not choices:
        at = value_at(step.params, "choices")
        reading.fail(at, "choices", "A choice step needs a list 'choices' of {step, description}.")
        return
    for index, choice in enumerate(choices):
        target = choice.get("step") if isinstance(choice, Map) else None
        if not isinstance(target, str):
            reading.fail(value_at(choices, index), "choices", "A choice needs 'step'.")
        elif target not in reading.names:
            at = value_at(choice, "step")
            hint = nearest(target, reading.names)
            reading.fail(at, "choice-target", f"There is no step '{target}' to choose.", hint)


def _check_sql(step: Step, reading: _Reading) -> None:
    if not reading.known.has_database:
        hint = 'Add "database": {"path": "data.sqlite"} to plugin.json.'
        reading.fail(step.at, "database", "A sql step needs a database in plugin.json.", hint)


def _check_extract(step: Step, reading: _Reading) -> None:
    keys = step.params.get("keys")
    if not isinstance(keys, Seq) or not keys or not all(isinstance(key, str) for key in keys):
        at = value_at(step.params, "keys")
        reading.fail(at, "keys", "An extract step needs a list 'keys' of dotted paths.")


def _check_mcp(step: Step, reading: _Reading) -> None:
    _check_arguments(step, reading)
    server, tool = step.params.get("server"), step.params.get("tool")
    if server not in reading.known.servers:
        at = value_at(step.params, "server")
        hint = nearest(str(server), reading.known.servers)
        reading.fail(at, "server", f"There is no MCP server '{server}' in plugin.json.", hint)
    if not isinstance(tool, str):
        reading.fail(value_at(step.params, "tool"), "tool", "An mcp step needs 'tool'.")


_CHECKS = {
    "api": _check_api,
    "llm": _check_llm,
    "choice": _check_choice,
    "sql": _check_sql,
    "extract": _check_extract,
    "mcp": _check_mcp,
}


def _targets(data: Map, steps: list[Step], reading: _Reading) -> None:
    sources = {str(item.get("name")): item for item in data["steps"] if isinstance(item, Map)}
    for step in steps:
        if step.next and step.next not in reading.names:
            at = value_at(sources[step.name], "next")
            message = f"There is no step '{step.next}': the flow ends after '{step.name}'."
            reading.findings.warn(at, "next", message, nearest(step.next, reading.names))


def _follows(data: Map, findings: Findings) -> tuple[Follow, ...]:
    listed = data.get("next_flow")
    if listed is None:
        return ()
    if not isinstance(listed, Seq):
        findings.warn(value_at(data, "next_flow"), "next-flow", "'next_flow' must be a list.")
        return ()
    follows = []
    for index, item in enumerate(listed):
        if isinstance(item, Map):
            findings.warn(value_at(listed, index), "dialect", f"'next_flow' with ids. {_NEWER}")
            follows.append(Follow(str(item.get("id")), str(item.get("question") or "")))
        else:
            follows.append(Follow(str(item)))
    return tuple(follows)


def _unknown_keys(data: Map, known: tuple[str, ...], findings: Findings) -> None:
    for key in data:
        if key not in known:
            message = f"'{key}' is unknown here and is ignored."
            findings.warn(key_at(data, key), "unknown-key", message, nearest(key, known))
