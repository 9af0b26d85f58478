"""Checks a server that speaks OpenBB Workspace's protocol for agents, case by case.

    python -m tests.conformance.openbb http://127.0.0.1:7777 [--ai-service] [--only TEXT]
        [--json FILE]

It plays the browser and holds every event against openbb-ai's models, against the stricter rules
of the web client, and against the order of the protocol: one call at most, and last. It looks at
shapes and never at the wisdom of an answer: a very small model will do. Remarks are no failures.
The last line is "N passed, N failed, N skipped"; the exit status is 1 when a case failed.
"""

import argparse
import sys
from pathlib import Path

from tests.conformance.openbb import bad, current, discovery, legacy, service
from tests.conformance.openbb.client import Options
from tests.conformance.openbb.player import Player
from tests.conformance.verdicts import Result, as_json, judge, show, summarise

GROUPS = (discovery, current, legacy, bad, service)
CASES = {name: case for group in GROUPS for name, case in group.CASES.by_name.items()}
FIRST = ("discovery/copilots.json", "discovery/agents.json")
"""Always run: they find the addresses of the others."""


def main() -> int:
    options = read_options()
    names = [name for name in CASES if is_chosen(name, options)]
    if options.list:
        sys.stdout.write("\n".join([*names, f"{len(names)} cases"]) + "\n")
        return 0
    player = Player(
        Options(
            options.address, options.origin, read_headers(options.header), options.timeout,
            options.hops, options.huge_mb, options.allow_no_call,
        )
    )  # fmt: skip
    results = []
    for name in names:
        results.append(run(name, player))
        show(results[-1])
    if options.json:
        options.json.write_text(as_json(results), "utf-8")
    sys.stdout.write(f"{sum(len(result.warnings) for result in results)} remarks\n")
    sys.stdout.write(summarise(results) + "\n")
    return int(any(result.status == "FAIL" for result in results))


def run(name: str, player: Player) -> Result:
    player.warnings = []
    result = judge(name, CASES[name], player)
    result.warnings = player.warnings
    return result


def is_chosen(name: str, options: argparse.Namespace) -> bool:
    if name.startswith("service/") and not options.ai_service:
        return False
    is_wanted = not options.only or name in FIRST or any(text in name for text in options.only)
    return is_wanted and not any(text in name for text in options.skip)


def read_headers(lines: list[str]) -> dict[str, str]:
    pairs = (line.partition(":") for line in lines)
    return {name.strip(): value.strip() for name, _, value in pairs}


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.conformance.openbb", description=str(__doc__).partition("\n")[0]
    )
    parser.add_argument("address", nargs="?", default="http://127.0.0.1:7777")
    parser.add_argument("--origin", default="https://pro.openbb.co")
    parser.add_argument(
        "--header", action="append", default=[], metavar="'Name: value'", help="sent each time"
    )
    parser.add_argument("--timeout", type=float, default=180, help="seconds for each request")
    parser.add_argument("--hops", type=int, default=6, help="calls before an answer")
    parser.add_argument("--huge-mb", type=int, default=64, help="size of the huge body")
    parser.add_argument(
        "--allow-no-call", action="store_true", help="a widget need not be asked for"
    )
    parser.add_argument("--ai-service", action="store_true", help="the optional service too")
    parser.add_argument("--only", action="append", default=[], metavar="TEXT")
    parser.add_argument("--skip", action="append", default=[], metavar="TEXT")
    parser.add_argument("--json", type=Path, help="writes the results to this file")
    parser.add_argument("--list", action="store_true", help="names the cases and ends")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
