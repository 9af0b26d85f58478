"""Where the recorded data and conformance clients lie that are not in the repository."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def shared_folder() -> Path:
    named = os.environ.get("MOAT_SHARED")
    places = [Path(named)] if named else [ROOT / "shared", ROOT.parent / "shared"]
    for place in places:
        if (place / "specs").is_dir():
            return place
    raise FileNotFoundError(
        f"No shared data in {' or '.join(map(str, places))}; MOAT_SHARED can name it."
    )
