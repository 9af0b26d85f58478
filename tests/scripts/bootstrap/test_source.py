"""Leaving out what a compiler does not know."""

from scripts.bootstrap.source import without

LISTING = """\
        ggml_add_cpu_backend_variant(armv8.6_2    DOTPROD SVE2)
        ggml_add_cpu_backend_variant(armv9.2_1    DOTPROD SME)
        ggml_add_cpu_backend_variant(armv9.2_2    DOTPROD SVE2 SME)
    endif()
"""


def test_only_the_named_variants_are_left_out() -> None:
    kept = without(LISTING, ["armv9.2_1", "armv9.2_2"])
    assert "armv8.6_2" in kept
    assert "armv9" not in kept
    assert kept.endswith("endif()\n")


def test_nothing_named_leaves_all() -> None:
    assert without(LISTING, []) == LISTING
