"""What llama.cpp logs while a decode is aborted."""

from server.engine.worker.load.context import Operations


def test_it_is_known_while_any_context_is_being_aborted() -> None:
    serving, measuring = Operations(), Operations()
    assert not Operations.aborting
    measuring.abort()
    assert Operations.aborting
    serving.clear()
    assert Operations.aborting
    measuring.clear()
    assert not Operations.aborting
