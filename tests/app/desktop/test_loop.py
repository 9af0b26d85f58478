import asyncio
import subprocess
import sys
import threading

from PySide6.QtCore import Qt

from app.desktop.loop import Loop


def running() -> Loop:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, Loop)
    return loop


async def test_a_sleep_never_ends_early() -> None:
    loop = running()
    for wanted_s in (0.0003, 0.05, 0.3):
        began = loop.time()
        await asyncio.sleep(wanted_s)
        assert loop.time() - began >= wanted_s


async def test_a_sleep_is_not_measured_by_a_coarse_timer() -> None:
    """Those fire up to 5 % early or late."""
    assert running()._alarm.timerType() == Qt.TimerType.PreciseTimer


async def test_cancelled_timers_are_forgotten() -> None:
    loop = running()
    for _ in range(2000):
        await asyncio.wait_for(asyncio.sleep(0), 300)
    assert len(loop._later) < 250


async def test_nobody_is_woken_for_a_timer_that_was_cancelled() -> None:
    loop = running()
    while loop._alarm.isActive():  # what a test before this one left
        await asyncio.sleep(0)
        loop._set_alarm()
    first, second = loop.call_later(1000, print), loop.call_later(2000, print)
    first.cancel()
    assert 1_500_000 < loop._alarm.interval() <= 2_000_001
    second.cancel()
    assert not loop._alarm.isActive()
    assert len(loop._later) == 0


async def test_timers_fire_in_their_order() -> None:
    loop = running()
    fired: list[str] = []
    done = asyncio.Event()
    loop.call_later(0.03, done.set)
    loop.call_later(0.02, fired.append, "second")
    loop.call_later(0.01, fired.append, "first")
    loop.call_later(0.015, fired.append, "never").cancel()
    await done.wait()
    assert fired == ["first", "second"]


async def test_a_timer_tells_when_it_fires() -> None:
    loop = running()
    before = loop.time()
    handle = loop.call_later(5, print)
    assert before + 5 <= handle.when() <= loop.time() + 5
    handle.cancel()


async def test_a_thread_hands_over_every_piece_in_order() -> None:
    loop = running()
    heard: list[int] = []
    done = asyncio.Event()

    def speak() -> None:
        for number in range(20_000):
            loop.call_soon_threadsafe(heard.append, number)
        loop.call_soon_threadsafe(done.set)

    thread = threading.Thread(target=speak)
    thread.start()
    async with asyncio.timeout(30):
        await done.wait()
    thread.join()
    assert heard == list(range(20_000))


async def test_a_failing_callback_does_not_stop_the_others() -> None:
    loop = running()
    failures: list[BaseException] = []
    loop.set_exception_handler(lambda _, context: failures.append(context["exception"]))
    done = asyncio.Event()
    loop.call_soon(lambda: 1 / 0)
    loop.call_soon(done.set)
    await done.wait()
    assert isinstance(failures[0], ZeroDivisionError)


async def test_a_child_process_can_be_started_and_read() -> None:
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "print(input())", stdin=-1, stdout=-1
    )
    answer, _ = await child.communicate(b"hello\n")
    assert (answer.strip(), child.returncode) == (b"hello", 0)


async def test_the_window_breathes_while_tasks_spin() -> None:
    """Tasks that never pause must not keep timers (and so the window) from their turn."""
    loop = running()
    spinning = True

    async def spin() -> None:
        while spinning:
            await asyncio.sleep(0)

    task = loop.create_task(spin())
    async with asyncio.timeout(30):
        await asyncio.sleep(0.05)
    spinning = False
    await task


def test_qt_does_not_lose_references_of_none() -> None:
    """PySide6 6.12 before Python 3.12 does, and aborts after some thousand calls."""
    script = (
        "from PySide6.QtCore import QObject\n"
        "thing = QObject()\n"
        "for _ in range(100_000): thing.setObjectName('x')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
