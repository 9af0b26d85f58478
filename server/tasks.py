"""Starts and stops tasks: keeps them alive and logs their failures."""

import asyncio
import logging
import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, TypeVar

T = TypeVar("T")
log = logging.getLogger(__name__)
_running: set[asyncio.Task[Any]] = set()


def spawn(work: Coroutine[Any, Any, T], name: str) -> asyncio.Task[T]:
    """Starts a task. Use it everywhere: asyncio alone may garbage-collect a running task."""
    task = asyncio.get_running_loop().create_task(work, name=name)
    _running.add(task)
    task.add_done_callback(_ended)
    return task


def can_spawn() -> bool:
    """Whether a loop is running. A window's timers may still fire after its loop has ended."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def whole(work: Coroutine[Any, Any, T], name: str) -> T:
    """Runs the work to its end, even if the caller is cancelled meanwhile."""
    task = spawn(work, name)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


async def stop(task: asyncio.Task[Any] | None) -> None:
    """Cancels a task and waits until it has ended. None is ignored."""
    if task is None:
        return
    task.cancel()
    await asyncio.wait([task])


@contextmanager
def paused(limit: asyncio.Timeout) -> Iterator[None]:
    """Stops the clock of a time limit, for example while a person is asked."""
    loop = asyncio.get_running_loop()
    ends, began = limit.when(), loop.time()
    limit.reschedule(None)
    try:
        yield
    finally:
        # The limited work may have ended meanwhile.
        with suppress(RuntimeError):
            limit.reschedule(None if ends is None else ends + loop.time() - began)


def _ended(task: asyncio.Task[Any]) -> None:
    _running.discard(task)
    if task.cancelled():
        return
    error = task.exception()
    if error is not None:
        log.error("The task %s failed", task.get_name(), exc_info=error)


async def _enter(limit: Any) -> asyncio.Timeout:
    limit.cancelled_before = asyncio.current_task().cancelling()  # type: ignore[union-attr]
    return await _usual_enter(limit)


async def _exit(
    limit: Any,
    kind: type[BaseException] | None,
    error: BaseException | None,
    trace: TracebackType | None,
) -> None:
    is_expired = limit.expired()
    await _usual_exit(limit, kind, error, trace)
    if is_expired and kind is asyncio.CancelledError:
        task = asyncio.current_task()
        if task and task.cancelling() <= limit.cancelled_before:
            raise TimeoutError from error


_usual_enter, _usual_exit = asyncio.Timeout.__aenter__, asyncio.Timeout.__aexit__
if sys.version_info[:3] < (3, 11, 3):
    # There, as in Debian 12, a time limit in the clean-up of a cancelled task cancels the clean-up:
    # a program that does not end by itself would be left running.
    asyncio.Timeout.__aenter__ = _enter  # type: ignore[assignment,method-assign]
    asyncio.Timeout.__aexit__ = _exit  # type: ignore[assignment,method-assign]
