"""python -m tests.packaging.try_processors: the frozen engine on processors that are emulated.

An old one, one of the middle and the newest that the emulator knows: each must choose a variant it
can run, read a prompt with it and find the right next word.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from scripts.package import product
from server.engine.worker.load import selftest
from tests.kit.programs import read_arguments
from tests.packaging.clean_root import ROOT, find_obstacles

PROCESSORS = {
    "aarch64": ("cortex-a53", "neoverse-n1", "max"),
    "x86_64": ("Nehalem", "Haswell", "max"),
}
PATIENCE_S = 1800


def main() -> int:
    machine = product.machine()
    frozen = product.FROZEN.relative_to(ROOT) / "resources" / "models" / "*.gguf"
    tools = {f"qemu-{machine}": "qemu-user"}
    if obstacles := find_obstacles(tools, str(frozen)):
        sys.stderr.write("\n".join(obstacles) + "\n")
        return 2
    emulator = shutil.which(f"qemu-{machine}") or ""
    model = next((product.FROZEN / "resources" / "models").glob("*.gguf"))
    failed = 0
    for processor in read_arguments(__doc__, takes_names=True) or PROCESSORS[machine]:
        began = time.monotonic()
        described = run(emulator, processor, "--describe")
        tried = run(emulator, processor, selftest.FLAG, str(model))
        failed += tried.returncode != 0
        variant = described.stdout.partition('"variant": ')[2].partition(",")[0]
        verdict = "right answer" if tried.returncode == 0 else f"failed: {tried.returncode}"
        took = time.monotonic() - began
        sys.stdout.write(f"{processor}: variant {variant}, {verdict}, {took:.0f} s\n")
        sys.stdout.flush()
    return 1 if failed else 0


def run(emulator: str, processor: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    program = product.FROZEN / product.NAME
    # A frozen program starts itself again with these; that second start would not be emulated.
    settled = {
        "LD_LIBRARY_PATH": str(product.FROZEN),
        "_PYI_ARCHIVE_FILE": str(program),
        "_PYI_PARENT_PROCESS_LEVEL": "-1",
        "_PYI_LINUX_PROCESS_NAME": product.NAME,
    }
    given = [part for name, text in settled.items() for part in ("-E", f"{name}={text}")]
    command = [emulator, "-cpu", processor, *given, str(program), "--role", "worker", *arguments]
    environment = {**os.environ, "MOAT_HOME": str(Path(product.WORK) / "emulated")}
    return subprocess.run(
        command,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


if __name__ == "__main__":
    read_arguments(__doc__, takes_names=True)
    sys.exit(main())
