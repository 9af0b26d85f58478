"""Which file of a repository: the one asked for, or the one that suits this machine."""

from collections.abc import Sequence

from server.errors import BadRequest
from server.face.models import HubFile
from server.models import projectors
from server.models.hub import RemoteFile, Repository

ORDER = {"runs well": 0, "tight": 1, "unknown": 2, "does not fit": 3}
GOOD_ENOUGH = ("Q4_K_M", "UD-Q4_K_XL", "Q5_K_M", "Q6_K", "Q8_0", "MXFP4", "Q4_0")


def recommended(judged: Sequence[HubFile]) -> HubFile | None:
    """The usual quantisation that runs well, else the best verdict; None if nothing fits."""
    able = [one for one in judged if one.fit.verdict != "does not fit"]
    if not able:
        return None
    best = min(ORDER[one.fit.verdict] for one in able)
    able = [one for one in able if ORDER[one.fit.verdict] == best]
    for wanted in GOOD_ENOUGH:
        for one in able:
            if one.quantisation == wanted:
                return one
    return able[len(able) // 2]


def named(models: Sequence[HubFile], eyes: Sequence[HubFile], file: str) -> HubFile | None:
    """By a file's name, or by a quantisation."""
    choice = next((one for one in (*models, *eyes) if one.name == file), None)
    return choice or next((one for one in models if one.quantisation == file.upper()), None)


def files_of(
    found: Repository, choice: HubFile | None, models: Sequence[HubFile], eyes: Sequence[HubFile]
) -> tuple[RemoteFile, ...]:
    """The model first, then the projector that lets it see, where there is one."""
    if choice is None:
        names = ", ".join(one.quantisation or one.name for one in models) or "none"
        raise BadRequest(f"There is no such file in {found.repo}. There are: {names}.", "file")
    seeing = projectors.choose(eyes) if choice in models else None
    wanted = (*choice.parts, *(seeing.parts if seeing else ()))
    by_path = {one.path: one for one in found.files}
    return tuple(by_path[path] for path in wanted)
