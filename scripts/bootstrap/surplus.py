"""What other packages ask for and Moat has no use for is not installed."""

from scripts.bootstrap import places

FOLDERS = ("lib/python3.*/site-packages", "Lib/site-packages")
BY_PACKAGE = {
    "llama_cpp_python": ("diskcache",),
    # It opens connections of its own, past the one door out. Moat fetches files itself.
    "huggingface_hub": ("hf-xet", "hf_xet"),
}
"""Who asks for what. diskcache unpickles what lies in a folder (CVE-2025-69872, mended nowhere);
`native.py` goes past it."""
SURPLUS = tuple(name for names in BY_PACKAGE.values() for name in names)


def drop() -> None:
    """Out of the list of requirements of the installed package, before pip follows it."""
    for folder in FOLDERS:
        for package in BY_PACKAGE:
            for path in places.ENVIRONMENT.glob(f"{folder}/{package}-*.dist-info/METADATA"):
                path.write_text(without(path.read_text(encoding="utf-8")), encoding="utf-8")


def without(facts: str) -> str:
    unwanted = tuple(f"Requires-Dist: {name}" for name in SURPLUS)
    lines = facts.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith(unwanted))
