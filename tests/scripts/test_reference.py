"""The lists of routes and settings say what the code says."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import Field

from scripts import reference
from server.protocols import ENDPOINTS
from server.protocols.base import Endpoint, Facts, Reply
from server.settings import PrivacySettings, Settings


def accept(_body: Any, _facts: Facts) -> Reply:
    """Says hello.

    Nobody needs to know more.
    """
    return Reply("hello")


accept.__module__ = "server.protocols.health"


def test_the_lists_in_the_documentation_are_up_to_date() -> None:
    assert reference.outdated(reference.DOCS) == [], "run python -m scripts.reference"


def test_every_route_and_every_setting_is_listed() -> None:
    routes, settings = reference.routes_page(), reference.settings_page()
    for endpoint in ENDPOINTS:
        assert f"`{endpoint.path.replace(':.+', '')}`" in routes
    for group in Settings.model_fields.values():
        for name, info in getattr(group.annotation, "model_fields", {}).items():
            assert f"| `{name}` | {info.title} |" in settings


def test_a_new_route_is_told_by_its_function_with_all_its_paths() -> None:
    hello = Endpoint("GET", "/hello/{name:[a-z]+}", accept)
    more = (hello, replace(hello, method="HEAD"), replace(hello, path="/v2/hello"))
    page = reference.routes_page((*ENDPOINTS, *more))
    assert "| GET, HEAD | `/hello/{name}` · `/v2/hello` | Says hello. |" in page


def test_a_route_whose_function_says_nothing_is_refused_by_its_name() -> None:
    silent = partial(lambda _body, _facts: Reply())
    silent.func.__module__ = "server.protocols.health"
    with pytest.raises(SystemExit, match=r"GET /silent: .* has no docstring"):
        reference.routes_page((Endpoint("GET", "/silent", silent),))


def test_a_new_setting_is_told_with_its_bounds_and_default() -> None:
    class More(PrivacySettings):
        minutes: Annotated[int, Field(ge=1, le=9, title="Minutes", description="a|b")] = 3
        shares: Annotated[tuple[float, ...], Field(title="Shares")] = ()

    class Other(Settings):
        privacy: More = Field(default_factory=More, title="Privacy")

    page = reference.settings_page(Other)
    assert "| `minutes` | Minutes | 1 to 9 | `3` | a\\|b |" in page
    assert "| `shares` | Shares | list of numbers | empty |  |" in page


def test_old_pages_are_named_by_the_check_and_written_again_without_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    into = ["--into", str(tmp_path)]
    assert reference.main([*into, "--check"]) == 1
    assert list(tmp_path.iterdir()) == []
    assert reference.main(into) == 0
    assert reference.main([*into, "--check"]) == 0
    (tmp_path / "settings.md").write_text("older", "utf-8")
    capsys.readouterr()
    assert reference.main([*into, "--check"]) == 1
    assert capsys.readouterr().err.startswith("settings.md is not what the code says")
