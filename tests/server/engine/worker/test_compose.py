"""Chunks that are never too short for the kernels that give the same bits."""

from hypothesis import given
from hypothesis import strategies as st

from server.engine.worker.compose import LEAST_CHUNK, first_size, part_size, to_border


@given(st.integers(1, 2000), st.integers(0, 512))
def test_neither_a_part_nor_its_rest_is_shorter_than_a_chunk(left: int, room: int) -> None:
    size = part_size(left, room, LEAST_CHUNK)
    assert size <= room
    assert size in (0, left) or (size >= LEAST_CHUNK and left - size >= LEAST_CHUNK)


@given(st.integers(1, 200), st.integers(1, LEAST_CHUNK - 1))
def test_a_room_too_small_for_a_chunk_is_kept_to(left: int, room: int) -> None:
    assert first_size(left, room) == min(left, room)


@given(st.integers(1, 2000), st.integers(LEAST_CHUNK, 512))
def test_every_prompt_is_read_to_its_end(left: int, room: int) -> None:
    sizes = []
    while left:
        sizes.append(first_size(left, room))
        left -= sizes[-1]
    assert min(sizes) >= min(LEAST_CHUNK, sum(sizes))
    assert max(sizes) <= max(room, 2 * LEAST_CHUNK - 1)


@given(st.integers(0, 5000), st.integers(1, 5000), st.integers(LEAST_CHUNK, 512))
def test_parts_end_at_borders_of_blocks(place: int, left: int, most: int) -> None:
    """Wherever a prompt begins: no part looks at an empty block that a shorter one would spare."""
    while left:
        size = first_size(left, min(most, to_border(place, 256)))
        beyond = (place + size) % 256 if place // 256 != (place + size - 1) // 256 else 0
        near = 256 - place % 256 < LEAST_CHUNK or left < 2 * LEAST_CHUNK
        assert not beyond or near
        assert size >= min(LEAST_CHUNK, left)
        place, left = place + size, left - size
