"""Removes requirements of packages that Moat does not need, so that pip does not install them."""

from scripts.bootstrap import places

FOLDERS = ("lib/python3.*/site-packages", "Lib/site-packages")
BY_PACKAGE = {
    "llama_cpp_python": ("diskcache",),
    # It opens connections of its own, around Moat's only way out. Moat fetches files itself.
    "huggingface_hub": ("hf-xet", "hf_xet"),
}
"""The unneeded requirements of each package. diskcache unpickles files from a folder
(CVE-2025-69872, not fixed in any version); `native.py` bypasses it."""
SURPLUS = tuple(name for names in BY_PACKAGE.values() for name in names)


def drop() -> None:
    """Removes them from the metadata of the installed packages, before pip reads it."""
    for folder in FOLDERS:
        for package in BY_PACKAGE:
            for path in places.ENVIRONMENT.glob(f"{folder}/{package}-*.dist-info/METADATA"):
                path.write_text(without(path.read_text(encoding="utf-8")), encoding="utf-8")


def without(facts: str) -> str:
    unwanted = tuple(f"Requires-Dist: {name}" for name in SURPLUS)
    lines = facts.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith(unwanted))
