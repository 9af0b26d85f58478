"""The AI service of a self-hosted Workspace: makes titles, names, better prompts and code."""

import asyncio
from functools import partial
from typing import Any

from server.chat import Json
from server.errors import BadRequest
from server.events import Events, Failed, TextDelta
from server.protocols.base import Facts, Look, Reply, Run, Upload
from server.system.lazy import Late

titles: Any = Late("server.dashboard.titles")

CODE_FIELDS = ("prompt", "request", "query", "instructions", "description", "code")


def chat_title(body: Any, facts: Facts) -> Run | Reply:
    """Returns a title for a chat, made from its first questions."""
    asked = _questions(_object(body))
    fallback = titles.plain_title(asked[0] if asked else "")
    if not facts.models:
        return Reply(fallback)
    return Run(partial(titles.title, "\n".join(asked[:3]), fallback))


def dashboard_title(body: Any, facts: Facts) -> Run | Reply:
    """Returns a title for a dashboard, made from its widgets' names."""
    names = _widget_names(_object(body))
    fallback = titles.plain_title(" and ".join(names[:2])) if names else "Dashboard"
    if not facts.models:
        return Reply(text=fallback, content_type="text/plain")
    return Run(partial(titles.title, "A dashboard with: " + ", ".join(names[:20]), fallback))


def enhance_prompt(body: Any, facts: Facts) -> Run | Reply:
    """Returns a clearer version of a prompt."""
    if isinstance(body, str):
        body = {"prompt": body}
    fields = _object(body)
    asked = _questions(fields)
    prompt = asked[-1] if asked else _first_text(fields, ("prompt", "query", "text"))
    names = _widget_names(fields)
    if not facts.models:
        text = titles.plain_better_prompt(prompt, names)
        return Reply(text=text, content_type="text/plain")
    return Run(partial(titles.better_prompt, prompt, names))


def widget_info(body: Any, _facts: Facts) -> Reply:
    """Returns a name and a description for a widget, made from its data."""
    asked = _object(body).get("widget_generation_request")
    asked = asked if isinstance(asked, dict) else {}
    name, description = str(asked.get("name") or ""), str(asked.get("description") or "")
    return Reply(titles.widget_info(asked.get("widget_data"), name[:80], description[:400]))


def widget_info_of_file(body: Any, _facts: Facts) -> Look:
    """Returns a name and a description for a widget, made from a file's tables or its text."""
    fields = _object(body)
    uploads = [upload for upload in fields.values() if isinstance(upload, Upload)]
    if not uploads:
        raise BadRequest("Send a form with a file.")
    name, description = (str(fields.get(key) or "") for key in ("name", "description"))

    async def find(_agents: object) -> Reply:
        file = uploads[0]
        info = partial(titles.file_info, file.data, file.name[:200], name[:80], description[:400])
        return Reply(await asyncio.to_thread(info))

    return Look(find)


def code(body: Any, facts: Facts) -> Run | Reply:
    """Writes code for a request."""
    fields = _object(body)
    request = "\n".join([*_questions(fields), _first_text(fields, CODE_FIELDS)]).strip()
    if not facts.models or not request:
        reason = "Nothing was asked for." if facts.models else "No model is installed."
        return Reply({"success": False, "error_message": reason})
    return Run(partial(titles.write_code, request))


async def collect_json(events: Events, _body: Any, _facts: Facts) -> Reply:
    return Reply((await _collect(events))[0])


async def collect_text(events: Events, _body: Any, _facts: Facts) -> Reply:
    return Reply(text=(await _collect(events))[0], content_type="text/plain")


async def collect_code(events: Events, _body: Any, _facts: Facts) -> Reply:
    text, problem = await _collect(events)
    if not text:
        return Reply({"success": False, "error_message": problem or "The model wrote nothing."})
    return Reply({"success": True, "generated_code": text})


async def _collect(events: Events) -> tuple[str, str]:
    texts: list[str] = []
    problem = ""
    async for event in events:
        if isinstance(event, TextDelta):
            texts.append(event.text)
        elif isinstance(event, Failed):
            problem = str(event.error)
    return "".join(texts), problem


def _object(body: Any) -> Json:
    if not isinstance(body, dict):
        raise BadRequest("The body must be a JSON object.")
    return body


def _questions(body: Json) -> list[str]:
    messages = body.get("messages")
    return [
        message["content"]
        for message in (messages if isinstance(messages, list) else [])
        if isinstance(message, dict)
        and message.get("role") in ("human", "user")
        and isinstance(message.get("content"), str)
    ]


def _widget_names(body: Json) -> list[str]:
    widgets = body.get("widgets")
    if isinstance(widgets, dict):
        groups = [group for group in widgets.values() if isinstance(group, list)]
        widgets = [widget for group in groups for widget in group]
    found = widgets if isinstance(widgets, list) else []
    return [
        str(widget["name"]) for widget in found if isinstance(widget, dict) and widget.get("name")
    ]


def _first_text(body: Json, fields: tuple[str, ...]) -> str:
    return next((body[name] for name in fields if isinstance(body.get(name), str)), "")
