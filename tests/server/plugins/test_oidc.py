import json
from typing import Any

import pytest

from server.data.yaml_with_places import Findings, read
from server.plugins.manifest import Manifest, read_manifest


def manifest(**auth: Any) -> tuple[Manifest, Findings]:
    findings = Findings("plugin.json")
    told = {"name": "P", "description": "d", "auth": {"type": "oidc", **auth}}
    found = read_manifest("p", read(json.dumps(told).encode(), findings), findings)
    assert found
    return found, findings


def test_a_provider_is_read_and_its_tokens_are_no_secrets_to_enter() -> None:
    found, findings = manifest(issuer="https://id.example/x", client_id="moat", scope="openid a")
    assert found.auth
    assert found.auth.provider
    assert found.auth.provider.hosts == ("https://id.example",)
    assert found.auth.provider.scope == "openid a"
    assert found.auth.args == {"Authorization": "Bearer ${secret:oidc-access-token}"}
    assert found.secrets == ()
    assert not [one for one in findings.found if one.code == "oidc"]


def test_without_a_provider_a_token_is_pasted() -> None:
    found, findings = manifest(domain="d", access_token_url="https://x.example")
    assert found.auth
    assert found.auth.provider is None
    assert found.secrets == ("access-token",)
    assert [one.code for one in findings.found if one.code == "oidc"] == ["oidc"]


@pytest.mark.parametrize(
    "address", ["http://id.example", "ftp://id.example", "https://", "id", "https://@[]"]
)
def test_tokens_travel_only_encrypted(address: str) -> None:
    found, findings = manifest(issuer=address, client_id="moat")
    assert found.auth
    assert found.auth.provider is None
    assert any("https" in str(one) for one in findings.found)


def test_a_provider_on_this_machine_may_be_plain() -> None:
    found, _ = manifest(
        authorization_url="http://127.0.0.1:9/a", token_url="http://127.0.0.1:9/t", client_id="m"
    )
    assert found.auth
    assert found.auth.provider
    assert found.auth.provider.hosts == ("http://127.0.0.1:9",)
