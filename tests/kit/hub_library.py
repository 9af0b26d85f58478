"""The hub's own library with its own HTTP client, as any program uses it, in a process of its own.

It reads questions as lines of JSON and prints what the library answers, or the error's class.
"""

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

QUIET = {"HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_XET": "1", "HF_HUB_VERBOSITY": "error"}


def describe(api: Any, repo: str, _folder: Path) -> Any:
    info = api.model_info(repo, securityStatus=True)
    issues = (info.security_repo_status or {}).get("filesWithIssues", [])
    return [info.id, info.sha, bool(info.gated), info.last_modified.date().isoformat(), issues]


def list_files(api: Any, repo: str, _folder: Path) -> Any:
    tree = api.list_repo_tree(repo, recursive=True)
    lfs = {entry.path: entry.lfs for entry in tree if getattr(entry, "lfs", None)}
    return [[path, found.size, found.sha256] for path, found in lfs.items()]


def search(api: Any, text: str, _folder: Path) -> Any:
    found = api.list_models(search=text, filter="gguf", sort="downloads", limit=2)
    return [[info.id, info.downloads] for info, _ in zip(found, range(2), strict=False)]


def fetch(api: Any, place: str, folder: Path) -> Any:
    """Downloads into a cache. Returns the file's hash and its path in the cache."""
    owner, name, *path = place.split("/")
    file = api.hf_hub_download(f"{owner}/{name}", "/".join(path), cache_dir=folder)
    return [hashlib.sha256(Path(file).read_bytes()).hexdigest(), os.path.relpath(file, folder)]


def find_token(_api: Any, _text: str, _folder: Path) -> Any:
    from huggingface_hub import get_token  # noqa: PLC0415  see main

    return get_token() or ""


QUESTIONS = {made.__name__: made for made in (describe, list_files, search, fetch, find_token)}


def main() -> None:
    os.environ.update(QUIET)
    from huggingface_hub import HfApi  # noqa: PLC0415  the variables must be set before

    for line in sys.stdin:
        asked = json.loads(line)
        api = HfApi(endpoint=asked["address"], token=asked["token"] or False)
        try:
            answer: Any = QUESTIONS[asked["question"]](api, asked["about"], Path(asked["folder"]))
        except Exception as error:  # noqa: BLE001  any error is an answer
            answer = {"error": type(error).__name__}
        sys.stdout.write(f"{json.dumps(answer)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
