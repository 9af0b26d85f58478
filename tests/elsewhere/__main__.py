"""Tests Moat before real servers of other projects, from outside.

python -m tests.elsewhere kits [openai openbb copilotkit] [--nginx PROGRAM]
python -m tests.elsewhere behaviours WHERE [FOLDER]      (--help lists where)
python -m tests.elsewhere three [--requests N] [--rounds N]
python -m tests.elsewhere keys [--requests N] [--rounds N]

llama-server is the one that the bench builds. The variable THREADS sets its threads; the default is
all cores.
"""

import argparse
import signal
import sys

from tests.elsewhere import behaviours, keys, kits, three

KITS = ("openai", "openbb", "copilotkit")


def main() -> int:
    options = read_options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # no server is left running
    return int(options.run(options))


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.elsewhere", description=str(__doc__).partition("\n")[0]
    )
    verbs = parser.add_subparsers(required=True, metavar="WHAT")
    kit = verbs.add_parser("kits", help="the conformance kits, with llama-server behind Moat")
    kit.add_argument("names", nargs="*", metavar="KIT", help=", ".join(KITS))
    kit.add_argument("--nginx", default="", metavar="PROGRAM", help="through it, with TLS")
    kit.set_defaults(run=lambda options: kits.run_kits(options.names or list(KITS), options.nginx))
    asked = verbs.add_parser("behaviours", help="what is asked of an engine elsewhere, and faults")
    asked.add_argument("where", choices=list(behaviours.PLACES))
    asked.add_argument("folders", nargs="*", metavar="FOLDER", help="where vllm, litellm are")
    asked.set_defaults(run=lambda given: behaviours.run_behaviours(given.where, given.folders))
    several = verbs.add_parser("three", help="three servers; one is killed, one is stopped")
    several.set_defaults(run=lambda options: three.run_three(options.requests, options.rounds))
    limited = verbs.add_parser("keys", help="the processor time that 100 keys with limits cost")
    limited.set_defaults(run=lambda options: keys.run_keys(options.requests, options.rounds))
    for measured, requests in ((several, 1000), (limited, 4000)):
        measured.add_argument("--requests", type=int, default=requests)
        measured.add_argument("--rounds", type=int, default=10, help="pairs that are compared")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
