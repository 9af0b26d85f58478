"""How the server behaves: slots come free, streams flow, pages of strangers stay outside."""

import json
import socket
import time
from collections.abc import Callable

from tests.conformance.openai.probe import CHAT, Json, Probe
from tests.conformance.openai.schemas import LONG, as_format
from tests.conformance.verdicts import Cases, Failed, NotApplicable, need, shorten

CASES: Cases[Probe] = Cases()
case = CASES.case
STRANGER = "https://evil.example"


def time_short_answer(probe: Probe, timeout: float | None = None) -> float:
    began = time.monotonic()
    probe.send("POST", CHAT, probe.body(max_tokens=4), timeout=timeout).succeeded()
    return time.monotonic() - began


def check_freed(probe: Probe, what: str, leave: Callable[[], None]) -> str:
    """After four clients have left, a short answer takes about as long as it takes alone."""
    alone = min(time_short_answer(probe) for _ in range(2))
    for _ in range(4):
        leave()
    patience = max(20, alone * 6 + 10)
    try:
        after = time_short_answer(probe, patience)
    except TimeoutError:
        raise Failed(
            f"after four {what} a short request had no answer in {patience:.0f} s"
            f" (alone it takes {alone:.2f} s)"
        ) from None
    told = f"alone {alone:.2f} s, after four {what} {after:.2f} s"
    need(after < alone * 4 + 4, told)
    return told


def leave_a_stream(probe: Probe) -> None:
    """Reads a little of a long answer and goes; without schemas it is a plain long answer."""
    for wanted in (as_format(LONG), None):
        body = probe.body(
            "Count from 1 to 2000.",
            stream=True, max_tokens=1500, temperature=1, response_format=wanted,
        )  # fmt: skip
        # A later stream that waits this long means that an earlier one holds its slot.
        link = probe.open("POST", CHAT, body, timeout=25)
        try:
            reply = link.getresponse()
            if reply.status == 200:
                for _ in range(4):
                    reply.readline()
                shut(link.sock)
                return
            told = f"HTTP {reply.status}: {shorten(reply.read().decode('utf-8', 'replace'))}"
        finally:
            link.close()
    raise Failed(told)


def shut(link: socket.socket | None) -> None:
    if link is not None:
        link.shutdown(socket.SHUT_RDWR)


@case("sys.disconnect_mid_stream_frees_the_slot")
def free_the_slot_of_a_left_stream(probe: Probe) -> str:
    return check_freed(probe, "dropped streams", lambda: leave_a_stream(probe))


@case("sys.disconnect_while_waiting_frees_the_slot")
def free_the_slot_of_a_left_request(probe: Probe) -> str:
    body = probe.body("Count.", max_tokens=3000, temperature=1, response_format=as_format(LONG))

    def leave() -> None:
        link = probe.open("POST", CHAT, body)
        time.sleep(0.7)  # the answer has begun and nothing tells the client so
        shut(link.sock)
        link.close()

    return check_freed(probe, "dropped requests", leave)


@case("sys.stream_starts_before_it_ends")
def stream_without_delay(probe: Probe) -> str:
    began, first, count = time.monotonic(), None, 0
    body = probe.body("Write about the sea.", max_tokens=40, temperature=1)
    for _, data in probe.events(CHAT, body):
        count += 1
        if first is None and has_content(data):
            first = time.monotonic() - began
    total = time.monotonic() - began
    if count < 12 or first is None:
        raise NotApplicable("there were too few chunks to judge")
    told = f"the first token came after {first:.2f} s of {total:.2f} s"
    need(first < total * 0.8, f"{told}: the stream is held back")
    return told


def has_content(data: str) -> bool:
    if data == "[DONE]":
        return False
    choices: list[Json] = json.loads(data)["choices"]
    return bool(choices and choices[0].get("delta", {}).get("content"))


@case("sys.cors_is_not_open_with_credentials")
def keep_strangers_outside(probe: Probe) -> str:
    asked = {
        "Origin": STRANGER,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
    }
    headers = probe.send("OPTIONS", CHAT, headers=asked).headers
    origin = headers.get("access-control-allow-origin")
    with_credentials = headers.get("access-control-allow-credentials", "").lower() == "true"
    is_open = origin in ("*", STRANGER) and with_credentials
    need(not is_open, f"any page may call with credentials (allow-origin {origin})")
    return f"allow-origin {origin}"
