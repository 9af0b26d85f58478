"""Chunks that fit the time of a step."""

from server.engine.worker.pace import Pace


def learned() -> Pace:
    pace = Pace()
    pace.note_decode(1, 0.010)
    pace.note_read(512, 1.024)
    return pace


def test_a_chunk_fits_the_time_given() -> None:
    pace = learned()
    assert pace.chunk_tokens(0.3, most=512) == 128
    assert pace.chunk_tokens(0.3, most=64) == 64
    assert pace.chunk_tokens(0.010, most=512) == 4
    assert pace.chunk_tokens(0.001, most=512) == 1


def test_a_size_that_was_measured_is_not_guessed() -> None:
    pace = learned()
    pace.note_read(16, 0.010)
    assert pace.chunk_tokens(0.011, most=512) == 16


def test_an_unknown_width_takes_the_nearest() -> None:
    assert learned().decode_s(4) == 0.010
    assert Pace().decode_s(4) == 0.0


def test_the_time_to_read_is_known_from_long_chunks() -> None:
    assert abs(learned().reading_s(1000) - 2.0) < 1e-9
