"""A valid body for every POST route, so that a refusal is not because of the body."""

from typing import Any

from server.models import library

ASKED = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}
QUERY = {"messages": [{"role": "human", "content": "Hi"}], "widgets": {"primary": []}}
TALK = {"messages": [{"role": "human", "content": "Hi"}]}
RUN = {
    "threadId": "t", "runId": "r", "state": {}, "tools": [], "context": [],
    "messages": [{"id": "m", "role": "user", "content": "Hi"}], "forwardedProps": {},
}  # fmt: skip
OLLAMA = {"model": library.NAME, "stream": False, "options": {"num_predict": 1}}
PAGES: dict[str, Any] = {
    "": {"query": "query { hello }", "variables": {"data": {"messages": []}}},
    "/agent/default/run": RUN,
    "/agent/default/connect": {"threadId": "t", "runId": "r", "messages": []},
    "/agent/default/stop/t": {},
    "/agent/default/suggest": RUN,
    "/threads/clear": {"ids": ["x"]},
    "/transcribe": {"audio": "x"},
}
RANKED = {"query": "a", "documents": ["b", {"text": "c"}], "top_n": 1, "return_documents": True}
OPENAI: dict[str, Any] = {
    "/v1/chat/completions": ASKED,
    "/v1/completions": {"prompt": "Hi", "max_tokens": 1},
    "/v1/responses": {"input": "Hi", "max_output_tokens": 1},
    "/v1/responses/input_tokens": {"input": "Hi", "instructions": "Be brief."},
    "/v1/responses/x/cancel": {"reason": "x"},
    "/v1/embeddings": {"input": "Hi"},
    "/v1/rerank": RANKED,
    "/v1/reranking": RANKED,
}
MODEL_ROUTES: dict[str, Any] = {
    **OPENAI,
    **{path.removeprefix("/v1"): body for path, body in OPENAI.items()},
    "/v2/rerank": RANKED,
    **dict.fromkeys(("/v1/messages", "/messages"), ASKED),
    **dict.fromkeys(("/v1/messages/count_tokens", "/messages/count_tokens"), ASKED),
    "/api/chat": {**OLLAMA, "messages": ASKED["messages"]},
    "/api/generate": {**OLLAMA, "prompt": "Hi"},
    "/api/show": {"model": library.NAME},
    "/api/embeddings": {"model": library.NAME, "prompt": "Hi"},
    "/api/pull": {"model": "hf.co/nobody/nothing", "stream": False},
    "/api/copy": {"source": library.NAME, "destination": "copied-by-a-page"},
    "/api/create": {
        "model": "made-by-a-page", "from": library.NAME, "system": "Be brief.", "license": ["x"],
        "parameters": {"stop": ["x"], "seed": 1}, "messages": ASKED["messages"], "stream": False,
    },
    "/api/push": {"model": library.NAME},
    "/api/blobs/x": {"a": "b"},
    "/tokenize": {"content": "Hi"},
    "/detokenize": {"tokens": [1, 2]},
    "/apply-template": ASKED,
    "/completion": {"prompt": "Hi", "n_predict": 1},
    "/infill": {
        "input_prefix": "def f():", "input_suffix": "\n", "n_predict": 1,
        "input_extra": [{"filename": "a.py", "text": "x"}],
    },
}  # fmt: skip
COPILOT_ROUTES: dict[str, Any] = {
    "/v1/query": QUERY,
    "/v1/agent/query": QUERY,
    "/v1/agent/feedback": {"trace_id": "x", "value": 1},
    "/api/embed": {"input": ["a"], "truncate": True},
    "/v1/enhance_prompt": {"prompt": "x"},
    "/v1/generate/chat/title": TALK,
    "/v1/generate/dashboard/title": {"widgets": [{"name": "x", "data": [1]}], **TALK},
    "/v1/generate/code": {"prompt": "x", "data": [{"a": 1}], **TALK},
    "/v1/generate/widget_info": {"data": [{"a": 1}], "name": "x"},
    "/v1/generate/widget_info/file": {"filename": "x.csv", "content": "YQ=="},
    **{f"/api/copilotkit{path}": body for path, body in PAGES.items()},
    **{f"/copilotkit{path}": body for path, body in PAGES.items()},
}
BODIES: dict[str, Any] = {**MODEL_ROUTES, **COPILOT_ROUTES}
