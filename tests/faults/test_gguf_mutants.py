"""Checks that our reader refuses what llama.cpp refuses or dies of. MOAT_MUTANTS is the number."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from server.errors import ModelDamaged
from server.models.gguf.files import check
from tests.kit.gguf_mutants import Mutants

COUNT = int(os.environ.get("MOAT_MUTANTS", "150"))
LOADER = Path(__file__).with_name("native_loader.py")


def is_refused(path: Path) -> bool:
    try:
        check(path)
    except ModelDamaged as error:
        return bool(error.defect)
    return False


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a POSIX system")
@pytest.mark.timeout(1200)
def test_harmful_mutants_are_refused_before_native_code_sees_them(tmp_path: Path):
    mutants = Mutants(tmp_path)
    paths = [tmp_path / f"{number}.gguf" for number in range(COUNT)]
    for number, path in enumerate(paths):
        mutants.make(number, path)
    named = "\n".join(map(str, [tmp_path / "whole.gguf", *paths]))
    run = subprocess.run(
        [sys.executable, str(LOADER)], input=named, capture_output=True, text=True, check=True
    )
    whole, *endings = map(int, run.stdout.split())
    assert whole == 0
    harmful = [path for path, ending in zip(paths, endings, strict=True) if ending]
    assert len(harmful) > COUNT // 2
    refused = sum(map(is_refused, harmful))
    assert refused >= 0.99 * len(harmful)
