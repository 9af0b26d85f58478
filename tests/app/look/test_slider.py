from collections.abc import Callable
from typing import Any

from app.look.slider import Slider

Shown = Callable[[Any], Any]


async def test_a_screen_reader_is_told_the_value_in_words(shown: Shown, qapp: object) -> None:
    slider = shown(Slider("Context", lambda value: f"{value:,} tokens", "How much it reads."))
    slider.offer((2048, 4096, 8192), 4096)
    assert slider.slider.accessibleName() == "Context: 4,096 tokens"
    slider.slider.setValue(2)
    assert slider.slider.accessibleName() == "Context: 8,192 tokens"
    assert slider.slider.accessibleDescription() == "How much it reads."
