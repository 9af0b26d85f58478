"""Which flags the engine is built with, and when an earlier build may be used again."""

import dataclasses
import sys
from pathlib import Path

import pytest

from scripts.bootstrap import recipe as making
from scripts.bootstrap.compiler import Compiler
from scripts.bootstrap.recipe import recipes, shipped
from server.system.hardware import Processor

AVX512 = ("avx512f", "avx512cd", "avx512vl", "avx512dq", "avx512bw")
XEON = Processor("x86_64", "Xeon", ("sse4_2", "avx", "avx2", "bmi2", "fma", "f16c", *AVX512))
OLD_X86 = Processor("x86_64", "Old", ("sse4_2", "avx"))
ARM = Processor("aarch64", "Neoverse-N1", ("asimd",))
GCC_12 = Compiler("gcc", "g++", "g++ (Debian 12.2.0-14) 12.2.0")
GCC_14 = Compiler("gcc-14", "g++-14", "g++-14 (Debian 14.2.0-8) 14.2.0")
CLANG = Compiler("clang", "clang++", "Debian clang version 14.0.6")
NO_DEAD_STORES = "-DCMAKE_CXX_FLAGS=-fno-tree-dse -fno-dse"


def test_an_old_gcc_must_not_drop_the_tile_configuration() -> None:
    fastest, *_ = recipes("1.0", XEON, GCC_12)
    assert "-DGGML_NATIVE=ON" in fastest.arguments
    assert NO_DEAD_STORES in fastest.arguments


@pytest.mark.parametrize("compiler", [GCC_14, CLANG])
def test_a_good_compiler_keeps_its_optimiser(compiler: Compiler) -> None:
    assert NO_DEAD_STORES not in recipes("1.0", XEON, compiler)[0].arguments


def test_arm_is_native_without_special_flags() -> None:
    fastest, safest = recipes("1.0", ARM, GCC_12)
    assert "-DGGML_NATIVE=ON" in fastest.arguments
    assert NO_DEAD_STORES not in fastest.arguments
    assert "-DGGML_NATIVE=OFF" in safest.arguments


def test_the_safer_x86_builds_leave_out_amx_then_avx512() -> None:
    _, without_amx, without_avx512 = recipes("1.0", XEON, GCC_12)
    assert {"-DGGML_NATIVE=OFF", "-DGGML_AVX512=ON", "-DGGML_AVX2=ON"} <= set(without_amx.arguments)
    assert not [one for one in without_avx512.arguments if "AVX512" in one]


def test_no_build_uses_what_the_processor_lacks() -> None:
    safest = recipes("1.0", OLD_X86, GCC_12)[-1]
    assert {"-DGGML_AVX=ON", "-DGGML_AVX2=OFF", "-DGGML_FMA=OFF"} <= set(safest.arguments)


def test_every_build_is_without_network_code_and_extras() -> None:
    for recipe in recipes("1.0", XEON, GCC_12):
        assert {"-DLLAMA_OPENSSL=OFF", "-DLLAMA_BUILD_SERVER=OFF"} <= set(recipe.arguments)


def test_arguments_with_spaces_survive_the_environment() -> None:
    environment = recipes("1.0", XEON, GCC_12)[0].environment()
    assert f"'{NO_DEAD_STORES}'" in environment["CMAKE_ARGS"]
    assert environment["CXX"] == "g++"


def test_the_user_may_add_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = recipes("1.0", ARM, GCC_12)[0]
    monkeypatch.setenv("MOAT_CMAKE_ARGS", "-DGGML_CUDA=ON")
    extended = recipes("1.0", ARM, GCC_12)[0]
    assert extended.arguments[-1] == "-DGGML_CUDA=ON"
    assert extended.key != plain.key
    monkeypatch.setenv("MOAT_CMAKE_ARGS", "-DVulkan_INCLUDE_DIR=/there -DSPIRV-Headers_DIR=/there")
    assert recipes("1.0", ARM, GCC_12)[0].key == plain.key, "that is for a library beside it"


def test_one_build_serves_every_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wheel's name says py3-none: nothing in it depends on the Python."""
    before = recipes("1.0", ARM, GCC_12)[0].key
    monkeypatch.setattr(sys, "version_info", (3, 99, 0))
    monkeypatch.setattr(sys, "version", "3.99.0")
    monkeypatch.setattr(sys, "executable", "/somewhere/else/python")
    assert recipes("1.0", ARM, GCC_12)[0].key == before


def test_what_is_left_out_of_the_source_is_part_of_the_key_but_not_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = recipes("1.0", ARM, GCC_12)[0].key
    copied = tmp_path / "elsewhere.cmake"
    copied.write_bytes(making.LIGHT.read_bytes())
    monkeypatch.setattr(making, "LIGHT", copied)
    assert recipes("1.0", ARM, GCC_12)[0].key == first
    assert str(copied) in recipes("1.0", ARM, GCC_12)[0].environment()["CMAKE_ARGS"]
    copied.write_text("# another")
    assert recipes("1.0", ARM, GCC_12)[0].key != first


def test_the_key_tells_builds_apart() -> None:
    more = dataclasses.replace(ARM, features=("asimd", "sve"))
    keys = [
        recipe.key
        for version, cpu, compiler in [
            ("1.0", ARM, GCC_12),
            ("1.1", ARM, GCC_12),
            ("1.0", more, GCC_12),
            ("1.0", ARM, GCC_14),
        ]
        for recipe in recipes(version, cpu, compiler)
    ]
    assert len(set(keys)) == len(keys)
    assert recipes("1.0", ARM, GCC_12)[0].key == keys[0]


def test_a_shipped_engine_has_a_library_per_generation() -> None:
    recipe = shipped("1.0", "x86_64", GCC_12)
    assert {"-DGGML_NATIVE=OFF", "-DGGML_BACKEND_DL=ON", "-DGGML_CPU_ALL_VARIANTS=ON"} <= set(
        recipe.arguments
    )
    assert recipe.environment()["CXXFLAGS"] == "-fno-tree-dse -fno-dse"
    assert shipped("1.0", "x86_64", GCC_14).flags == ""


def test_an_old_compiler_leaves_out_what_it_does_not_know() -> None:
    assert shipped("1.0", "aarch64", GCC_12).left_out == ("armv9.2_1", "armv9.2_2")
    assert shipped("1.0", "aarch64", GCC_14).left_out == ()
    assert shipped("1.0", "x86_64", GCC_12).left_out == ()


def test_every_machine_of_a_kind_ships_the_same_engine() -> None:
    keys = {shipped("1.0", "aarch64", one).key for one in (GCC_12, GCC_14)}
    assert len(keys) == 2
    assert shipped("1.0", "aarch64", GCC_12).key == shipped("1.0", "aarch64", GCC_12).key
    assert shipped("1.0", "aarch64", GCC_12).key not in {
        one.key for one in recipes("1.0", ARM, GCC_12)
    }
