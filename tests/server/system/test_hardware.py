"""The processor's name and features, read from what Linux says on two architectures."""

from server.system import hardware

XEON = """processor\t: 0
model name\t: Intel(R) Xeon(R) Platinum 8488C
flags\t\t: fpu sse4_2 avx avx2 amx_tile

processor\t: 1
model name\t: Another
flags\t\t: fpu
"""
GRAVITON = """processor\t: 0
Features\t: fp asimd asimddp
CPU implementer\t: 0x41
CPU part\t: 0xd0c
"""


def test_an_x86_processor_has_a_name_and_flags() -> None:
    found = hardware.from_cpuinfo("x86_64", XEON)
    assert found.model == "Intel(R) Xeon(R) Platinum 8488C"
    assert found.features == ("amx_tile", "avx", "avx2", "fpu", "sse4_2")
    assert found.is_x86


def test_an_arm_processor_is_named_by_its_part_number() -> None:
    found = hardware.from_cpuinfo("aarch64", GRAVITON)
    assert found.model == "Neoverse-N1"
    assert found.features == ("asimd", "asimddp", "fp")
    assert not found.is_x86


def test_an_unknown_part_is_still_told_apart() -> None:
    text = GRAVITON.replace("0xd0c", "0xfff")
    assert hardware.from_cpuinfo("aarch64", text).model == "unknown 0xfff"


def test_this_machine_has_a_processor() -> None:
    found = hardware.read()
    assert found.architecture
    assert found.model
