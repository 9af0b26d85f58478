"""The software bill of materials: CycloneDX 1.5 as JSON, made from the list of licences."""

import hashlib
import json
import re
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from scripts.package import product
from server.system.licenses import Component

KINDS = {
    "program": "application",
    "library": "library",
    "system library": "library",
    "model": "machine-learning-model",
    "template": "file",
    "font": "file",
    "runtime": "platform",
}


def write(path: Path, components: Iterable[Component]) -> None:
    text = json.dumps(bill(list(components)), indent=2, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def bill(components: list[Component]) -> dict[str, Any]:
    parts = [_part(one) for one in components if one.kind != "program"]
    made = datetime.fromtimestamp(product.moment(), UTC)
    seed = json.dumps([product.VERSION, parts], sort_keys=True)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, seed)}",
        "version": 1,
        "metadata": {
            "timestamp": made.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "application",
                "bom-ref": product.NAME,
                "name": product.NAME,
                "version": product.VERSION,
                "licenses": [{"license": {"id": product.LICENCE}}],
            },
        },
        "components": parts,
        "dependencies": [
            {"ref": product.NAME, "dependsOn": sorted(part["bom-ref"] for part in parts)}
        ],
    }


def _part(one: Component) -> dict[str, Any]:
    part: dict[str, Any] = {
        "type": KINDS[one.kind],
        "bom-ref": f"{one.kind.replace(' ', '-')}/{one.name}@{one.version}",
        "name": one.name,
        "version": one.version,
        "licenses": [{"license": {"name": one.licence}}],
    }
    if one.kind == "library" and " " not in one.name:
        part["purl"] = _purl("pypi", re.sub(r"[-_.]+", "-", one.name).lower(), one.version)
    if one.kind == "system library":
        part["purl"] = _purl("deb/debian", one.name, one.version)
    if one.text:
        digest = hashlib.sha256(one.text.encode()).hexdigest()
        part["properties"] = [{"name": "licence-text-sha256", "value": digest}]
    return part


def _purl(kind: str, name: str, version: str) -> str:
    return f"pkg:{kind}/{quote(name, safe='')}@{quote(version, safe=':')}"
