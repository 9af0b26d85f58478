"""What a person sets in MB is told again in the same MB."""

from server.engine.fitted import limits_of
from server.settings import ModelSettings
from server.sizes import in_gb


def test_a_budget_of_8000_mb_is_8_gb() -> None:
    limits = limits_of(ModelSettings(memory_budget_mb=8000))
    assert limits.budget_bytes == 8_000_000_000
    assert in_gb(limits.budget_bytes) == "8.0 GB"
