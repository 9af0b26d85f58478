import socket

from aiohttp import web
from aiohttp.test_utils import TestServer

from app.connect.clients import WORKSPACE_ORIGIN, Here, all_clients
from app.desktop.probe import NAME, Step, first_request

READ = Step("GET", "/v1/models", read=lambda told: f"It found {told['data'][0]['id']}.")


async def probe(reply: web.Response, step: Step = READ, key: str = "") -> tuple[bool, str, object]:
    seen: list[web.Request] = []

    async def handle(request: web.Request) -> web.Response:
        seen.append(request)
        return reply

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)
    async with TestServer(app, host="127.0.0.1") as server:
        outcome = await first_request(str(server.make_url("")), key, (step,))
    return outcome.ok, outcome.text, seen[0].headers


async def test_what_was_found_is_told_with_its_time() -> None:
    ok, text, headers = await probe(web.json_response({"data": [{"id": "m"}]}), key="k")
    assert ok
    assert text.startswith("GET /v1/models was answered in ")
    assert text.endswith("It found m.")
    assert headers["Authorization"] == "Bearer k"  # type: ignore[index]
    assert headers["User-Agent"] == NAME  # type: ignore[index]


async def test_an_answer_of_another_shape_fails() -> None:
    for reply in (web.json_response({"data": []}), web.json_response([]), web.Response(text="hi")):
        ok, text, _ = await probe(reply)
        assert not ok
        assert "cannot read" in text


async def test_a_missing_key_and_a_reason_are_told() -> None:
    refusal = web.json_response({"error": {"message": "no"}}, status=401)
    assert (await probe(refusal))[:2] == (False, "The access key is missing or wrong.")
    broken = web.json_response({"error": {"message": "The model is gone."}}, status=503)
    assert (await probe(broken))[:2] == (False, "GET /v1/models: The model is gone.")
    silent = web.Response(status=500)
    assert "status 500" in (await probe(silent))[1]


async def test_a_page_that_may_not_connect_is_told() -> None:
    asked = Step("GET", "/agents.json", origin="https://a.example", read=READ.read)
    ok, text, _ = await probe(web.json_response({}, status=403), asked)
    assert not ok
    assert "https://a.example may not connect" in text
    ok, text, _ = await probe(web.json_response({"data": [{"id": "m"}]}), asked)
    assert not ok
    assert "does not let" in text


async def test_nobody_there_is_told() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{held.getsockname()[1]}"
        outcome = await first_request(address, "", (READ,))
    assert not outcome.ok
    assert "No response from" in outcome.text


async def test_every_client_has_its_words_and_first_request() -> None:
    here = Here("http://127.0.0.1:7777", "Qwen", "k")
    names = [client.id for client in all_clients()]
    assert len(set(names)) == 6
    for client in all_clients():
        filled = here.fill(client.snippet)
        assert "$" not in filled
        assert "127.0.0.1:7777" in filled
        assert client.steps
    assert all_clients()[0].steps[0].origin == WORKSPACE_ORIGIN
