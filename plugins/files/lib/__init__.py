"""Search and read text files below the folders a person chose."""

import os
from pathlib import Path

MOST_FILES = 20_000
MOST_HITS = 30
MOST_BYTES = 2 * 1024 * 1024
SHOWN = 20_000
SKIPPED = {".git", "node_modules", "__pycache__", ".venv"}


class SearchFiles:
    name = "search_files"
    description = "Finds files whose name or text contains some words."
    params_schema = {
        "type": "object",
        "properties": {
            "words": {
                "type": "string",
                "description": "The words to look for, as the user wrote them.",
                "minLength": 1,
                "maxLength": 100,
            }
        },
        "required": ["words"],
    }

    def __init__(self, params):
        self.words = params["words"].lower().split()

    def call(self, fixed_params):
        found = []
        looked = 0
        for path in files(fixed_params["options"]):
            looked += 1
            if looked > MOST_FILES or len(found) >= MOST_HITS:
                break
            hit = self.hit(path)
            if hit is not None:
                found.append({"file": str(path), "line": hit[0], "text": hit[1]})
        return {"output": found, "message": f"{len(found)} of {looked} files match."}

    def hit(self, path):
        """The first line with the most words; line 0 for the name alone."""
        best, score = None, 0
        if all(word in path.name.lower() for word in self.words):
            best, score = (0, path.name), 1
        for number, line in enumerate(lines(path), 1):
            lowered = line.lower()
            count = sum(word in lowered for word in self.words)
            if count > score:
                best, score = (number, line.strip()[:300]), count
        return best if best and (score == len(self.words) or best[0] == 0) else None


class ReadFile:
    name = "read_file"
    description = "Reads one text file by its path or name."
    params_schema = {
        "type": "object",
        "properties": {
            "file": {
                "type": "string",
                "description": "The path or the name of the file.",
                "minLength": 1,
                "maxLength": 300,
            }
        },
        "required": ["file"],
    }

    def __init__(self, params):
        self.file = params["file"]

    def call(self, fixed_params):
        for path in files(fixed_params["options"]):
            if str(path) == self.file or path.name == Path(self.file).name:
                text = "\n".join(lines(path))
                note = "" if len(text) <= SHOWN else f", the first {SHOWN} characters"
                return {"output": text[:SHOWN], "message": f"{path}{note}"}
        raise ValueError(f"There is no file {self.file} in the folders you allow.")


def files(options):
    folders = [line.strip() for line in options.get("folders", "").splitlines() if line.strip()]
    if not folders:
        raise ValueError("Choose the folders that may be read under Plugins first.")
    for folder in folders:
        root = Path(folder).resolve()
        for place, inside, names in os.walk(root):
            inside[:] = sorted(name for name in inside if name not in SKIPPED)
            for name in sorted(names):
                path = Path(place, name).resolve()
                if path.is_relative_to(root):
                    yield path


def lines(path):
    try:
        if path.stat().st_size > MOST_BYTES:
            return []
        return path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []


exported = [SearchFiles, ReadFile]
