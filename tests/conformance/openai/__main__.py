"""Checks a server that speaks OpenAI's protocol, case by case.

    python -m tests.conformance.openai http://127.0.0.1:8080/v1 [--only REGEX] [--json FILE]

The last line is "N passed, N failed, N skipped"; the exit status is 1 when a case failed.
No case depends on what a model knows: a very small one will do.
"""

import argparse
import re
import sys
from pathlib import Path

from openai import OpenAIError

from tests.conformance.openai import behaviour, chat, errors, responses, structured, text, tools
from tests.conformance.openai.probe import Probe
from tests.conformance.verdicts import as_json, judge, show, summarise

GROUPS = (chat, structured, tools, text, responses, errors, behaviour)
CASES = {name: case for group in GROUPS for name, case in group.CASES.by_name.items()}


def main() -> int:
    options = read_options()
    names = [
        name
        for name in CASES
        if re.search(options.only, name) and not (options.skip and re.search(options.skip, name))
    ]
    if options.list:
        sys.stdout.write("\n".join([*names, f"{len(names)} cases"]) + "\n")
        return 0
    try:
        probe = Probe(options.address, options.api_key, options.model, options.timeout)
    except OpenAIError as error:
        sys.stderr.write(f"The server does not list its models: {error}\n")
        return 2
    probe.long_words = options.long_words
    results = []
    for name in names:
        results.append(judge(name, CASES[name], probe))
        show(results[-1])
    if options.json:
        options.json.write_text(as_json(results), "utf-8")
    sys.stdout.write(summarise(results) + "\n")
    return int(any(result.status == "FAIL" for result in results))


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.conformance.openai", description=str(__doc__).partition("\n")[0]
    )
    parser.add_argument("address", nargs="?", default="http://127.0.0.1:8080/v1")
    parser.add_argument("--api-key")
    parser.add_argument("--model", help="the first one listed when it is left out")
    parser.add_argument("--only", default="", help="cases whose name this expression finds")
    parser.add_argument("--skip", default="", help="leaves these cases out")
    parser.add_argument("--timeout", type=float, default=180, help="seconds for each request")
    parser.add_argument("--long-words", type=int, default=60_000, help="of the too long prompt")
    parser.add_argument("--json", type=Path, help="writes the results to this file")
    parser.add_argument("--list", action="store_true", help="names the cases and ends")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
