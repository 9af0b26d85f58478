import plistlib
from pathlib import Path

import pytest

from app.desktop import autostart
from scripts.package import product
from scripts.package.macos import bundle

CODE = b"\xcf\xfa\xed\xfe" + b"\0" * 32


def test_the_app_lives_in_the_menu_bar_only() -> None:
    facts = bundle.facts()
    assert facts["info_plist"]["LSUIElement"] is True
    assert (facts["name"], facts["version"]) == ("Moat.app", product.VERSION)


def test_parts_are_signed_before_what_holds_them(tmp_path: Path) -> None:
    app = tmp_path / "Moat.app"
    for name in ("MacOS/moat", "Frameworks/llama_cpp/lib/libllama.dylib", "Resources/text"):
        path = app / "Contents" / name
        path.parent.mkdir(parents=True)
        path.write_bytes(b"words" if name.endswith("text") else CODE)
    (app / "Contents" / "Frameworks" / "link.dylib").symlink_to("llama_cpp/lib/libllama.dylib")
    assert [path.name for path in bundle.code(app)] == ["libllama.dylib", "moat"]


def test_an_official_signature_is_hardened_and_a_local_one_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(bundle.IDENTITY, raising=False)
    assert bundle.signing(Path("Moat.app"))[:4] == ["codesign", "--force", "--sign", "-"]
    assert "runtime" not in bundle.signing(Path("Moat.app"))
    monkeypatch.setenv(bundle.IDENTITY, "Developer ID Application: Somebody")
    official = bundle.signing(Path("Moat.app"))
    assert {"runtime", "--timestamp", str(bundle.ENTITLEMENTS)} <= set(official)
    assert "--entitlements" not in bundle.signing(Path("libllama.dylib"))


def test_entitlements_and_the_login_agent_are_property_lists() -> None:
    assert all(plistlib.loads(bundle.ENTITLEMENTS.read_bytes()).values())
    agent = plistlib.loads(autostart.launch_agent(["/Moat.app/Contents/MacOS/moat"]).encode())
    assert agent["RunAtLoad"] is True
