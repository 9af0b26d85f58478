"""A request in the words of an OpenAI-compatible server."""

import base64
import json

from server.chat import ChatRequest, Constraint, Image, Json, Message, Sampling, Tool, ToolCall
from server.errors import NotSupported

NO_GRAMMAR = "The engine on the other machine takes only a JSON schema, and only for a chat."
NO_INFILL = "The engine on the other machine cannot fill a gap in a text."
_EXTRAS = {
    "top_k": ("top_k",),
    "min_p": ("min_p",),
    "typical_p": ("typical_p",),
    "repeat_penalty": ("repeat_penalty", "repetition_penalty"),
    "dry_multiplier": ("dry_multiplier",),
    "xtc_probability": ("xtc_probability",),
    "xtc_threshold": ("xtc_threshold",),
    "ignore_eos": ("ignore_eos",),
}
"""Our name: theirs, in llama-server and vLLM. Sent only when asked for: others refuse them."""


def body_of(request: ChatRequest, model: str) -> Json:
    body = {
        "model": model,
        "stream": True,
        "stream_options": {"include_usage": True},
        **_sampling(request.sampling),
        **_limits(request),
    }
    if request.infill is not None:
        raise NotSupported(NO_INFILL)
    if request.prompt is not None:
        if request.constraint is not None:
            raise NotSupported(NO_GRAMMAR)
        return body | {"prompt": request.prompt}
    body["messages"] = [_message(message) for message in request.messages]
    if request.continues:
        body |= {"continue_final_message": True, "add_generation_prompt": False}
    if request.template_options:
        body["chat_template_kwargs"] = dict(request.template_options)
    if request.constraint is not None:
        body["response_format"] = _response_format(request.constraint)
    return body | _tools(request)


def _limits(request: ChatRequest) -> Json:
    body: Json = {}
    if request.max_tokens is not None:
        body["max_tokens"] = request.max_tokens
    if request.stop:
        body["stop"] = list(request.stop)
    if request.top_logprobs is not None:
        if request.prompt is not None:
            body["logprobs"] = request.top_logprobs
        else:
            body |= {"logprobs": True, "top_logprobs": request.top_logprobs}
    return body


def _sampling(sampling: Sampling) -> Json:
    usual = Sampling()
    body: Json = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "frequency_penalty": sampling.frequency_penalty,
        "presence_penalty": sampling.presence_penalty,
    }
    if sampling.seed is not None:
        body["seed"] = sampling.seed
    if sampling.logit_bias:
        body["logit_bias"] = {str(token): bias for token, bias in sampling.logit_bias}
    for ours, theirs in _EXTRAS.items():
        wanted = getattr(sampling, ours)
        if wanted != getattr(usual, ours):
            body |= dict.fromkeys(theirs, wanted)
    return body


def _message(message: Message) -> Json:
    body: Json = {"role": message.role, "content": _content(message)}
    if message.name is not None:
        body["name"] = message.name
    if message.tool_call_id is not None:
        body["tool_call_id"] = message.tool_call_id
    if message.tool_calls:
        body["tool_calls"] = [_call(call) for call in message.tool_calls]
    if message.reasoning:
        body["reasoning_content"] = message.reasoning
    return body


def _content(message: Message) -> str | list[Json]:
    if not message.images:
        return message.content
    return [_part(part) for part in message.parts()]


def _part(part: str | Image) -> Json:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    data = base64.b64encode(part.data).decode()
    return {"type": "image_url", "image_url": {"url": f"data:{part.mime};base64,{data}"}}


def _call(call: ToolCall) -> Json:
    function = {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)}
    return {"id": call.id, "type": "function", "function": function}


def _tools(request: ChatRequest) -> Json:
    choice = request.tool_choice
    tools = [tool for tool in request.tools if not choice.names or tool.name in choice.names]
    if not tools or choice.mode == "none":
        return {}
    # Only the tools it may call are shown: llama-server does not read a choice by name.
    return {
        "tools": [_tool(tool) for tool in tools],
        "tool_choice": choice.mode,
        "parallel_tool_calls": request.parallel_calls,
    }


def _tool(tool: Tool) -> Json:
    function: Json = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    }
    if tool.strict:
        function["strict"] = True
    return {"type": "function", "function": function}


def _response_format(constraint: Constraint) -> Json:
    if constraint.kind != "json_schema":
        raise NotSupported(NO_GRAMMAR)
    schema = {
        "name": "answer",
        "schema": json.loads(constraint.source),
        "strict": constraint.strict,
    }
    return {"type": "json_schema", "json_schema": schema}
