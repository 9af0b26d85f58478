"""What the engine's package asks for and Moat has no use for is not installed."""

from scripts.bootstrap import places

FACTS = "llama_cpp_python-*.dist-info/METADATA"
FOLDERS = ("lib/python3.*/site-packages", "Lib/site-packages")
SURPLUS = ("diskcache",)
"""It unpickles what lies in a folder (CVE-2025-69872, mended nowhere); `native.py` goes past it."""


def drop() -> None:
    """Out of the list of requirements of the installed package, before pip follows it."""
    for folder in FOLDERS:
        for path in places.ENVIRONMENT.glob(f"{folder}/{FACTS}"):
            path.write_text(without(path.read_text(encoding="utf-8")), encoding="utf-8")


def without(facts: str) -> str:
    unwanted = tuple(f"Requires-Dist: {name}" for name in SURPLUS)
    lines = facts.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith(unwanted))
