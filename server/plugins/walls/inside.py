"""The last steps inside the sandbox, before a plugin's program starts.

It runs as a script that uses only the standard library, because the program can read whatever it
imports. With `own` it creates the namespaces itself; otherwise bubblewrap has done so.
"""

import ctypes
import json
import os
import platform
import signal
import socket
import struct
import sys
from pathlib import Path
from typing import Any

PORT = 3128
"""The port of the proxy (`Doorway`) inside the sandbox."""
_ERRNO = 0x00050000
_ALLOW = 0x7FFF0000
_KILL = 0x80000000
_EPERM, _ENOSYS, _EAFNOSUPPORT = 1, 38, 97
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NEW_NAMESPACES = 0x7E020000
"""The flags of clone() that create namespaces."""
_THREAD = 0x00010000
_FAMILIES = (1, 2, 10, 16)
"""Unix, IPv4, IPv6, netlink. Programs list network interfaces by netlink; only loopback exists."""
_RDONLY, _NOSUID, _NODEV, _NOEXEC, _REMOUNT = 1, 2, 4, 8, 32
_BIND, _REC, _PRIVATE, _RELATIME, _DETACH = 0x1000, 0x4000, 1 << 18, 1 << 21, 2
_UNSHARED = 0x10000000 | 0x00020000 | 0x40000000 | 0x08000000 | 0x04000000 | 0x20000000 | 0x02000000
_MOUNT_SETATTR, _PIVOT_ROOT = 442, {"x86_64": 155, "aarch64": 41}
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32 = 0x40000000
Numbers = dict[str, tuple[int, int]]
"""A system call's number on x86_64 and on aarch64; -1 if it does not exist there."""
_NEVER: Numbers = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "bpf": (321, 280),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "mount": (165, 40),
    "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "unshare": (272, 97),
    "setns": (308, 268), "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    "kexec_load": (246, 104), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "io_uring_setup": (425, 425), "reboot": (169, 142),
    "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89), "quotactl": (179, 60),
    "kcmp": (312, 272), "syslog": (103, 116), "open_tree": (428, 428), "move_mount": (429, 429),
    "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "pidfd_getfd": (438, 438), "mount_setattr": (442, 442),
}  # fmt: skip
_NO_PROGRAMS: Numbers = {
    "execve": (59, 221), "execveat": (322, 281), "fork": (57, -1), "vfork": (58, -1),
    "socket": (41, 198), "memfd_create": (319, 279),
}  # fmt: skip
_CLONE, _CLONE3, _SOCKET = (56, 220), (435, 435), (41, 198)
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def main(given: list[str]) -> None:
    asked = json.loads(given[0])
    if asked["own"]:
        _enclose(asked)
    if asked["door"] is not None:
        _open_door(asked["door"])
    for folder in asked["inert"]:
        _cover(folder)
        _forbid_running(folder)
    # These files belong to root, which may be our own user id, whatever rights we drop.
    for path in filter(
        os.path.exists, ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus")
    ):
        _cover(path)
        _forbid_running(path, _RDONLY)
    _drop_rights()
    _filter(_NEVER, is_code=False)
    os.chdir(asked["cwd"])
    if asked["command"]:
        try:
            os.execvpe(asked["command"][0], asked["command"], os.environ)
        except OSError as error:
            sys.exit(f"{asked['command'][0]} cannot be started: {error.strerror}.")


def forbid_programs() -> None:
    """Forbids programs, processes and sockets from now on. Called before Python tools run."""
    if platform.machine() not in _ARCHITECTURES:
        return
    _call("prctl", 38, 1, 0, 0, 0)
    _filter(_NEVER, is_code=False)
    _filter(_NO_PROGRAMS, is_code=True)


def _open_door(channel: int) -> None:
    """Listens inside the sandbox, and sends the socket to Moat, which accepts the connections."""
    if sys.platform != "linux":
        raise OSError("This sandbox is available on Linux only.")
    with socket.create_server(("127.0.0.1", PORT)) as listener, socket.socket(fileno=channel) as to:
        socket.send_fds(to, [b"."], [listener.fileno()])


def _cover(path: str) -> None:
    """Mounts the path over itself, so that it can have its own mount flags."""
    _call("mount", os.fsencode(path), os.fsencode(path), None, _BIND | _REC, None)


def _forbid_running(path: str, more: int = 0) -> None:
    """Remounts the path so that nothing in it runs or loads as native code."""
    if sys.platform != "linux":
        raise OSError("This sandbox is available on Linux only.")
    now = os.statvfs(path).f_flag
    kept = now & (os.ST_RDONLY | os.ST_NOATIME | os.ST_NODIRATIME)
    kept |= _RELATIME if now & os.ST_RELATIME else 0
    flags = _NOSUID | _NODEV | _NOEXEC | _REMOUNT | _BIND | kept | more
    _call("mount", None, os.fsencode(path), None, flags, None)


def _drop_rights() -> None:
    _call("prctl", 38, 1, 0, 0, 0)
    for capability in range(64):
        if _libc is not None and _libc.prctl(24, capability, 0, 0, 0) != 0:
            break
    header = ctypes.create_string_buffer(struct.pack("Ii", 0x20080522, 0))
    _call("capset", header, ctypes.create_string_buffer(24))


def _filter(forbidden: Numbers, *, is_code: bool) -> None:
    place = list(_ARCHITECTURES).index(platform.machine())
    program = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, _ARCHITECTURES[platform.machine()])]
    program += [(_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, 0)]
    if place == 0:
        program += [(_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _KILL)]
    for numbers in forbidden.values():
        if numbers[place] >= 0:
            program += [(_EQUAL, 0, 1, numbers[place]), (_RETURN, 0, 0, _ERRNO | _EPERM)]
    # Refuse clone3, so that the C library uses clone, whose flags a filter can see.
    program += [(_EQUAL, 0, 1, _CLONE3[place]), (_RETURN, 0, 0, _ERRNO | _ENOSYS)]
    refused, allowed = (_RETURN, 0, 0, _ERRNO | _EPERM), (_RETURN, 0, 0, _ALLOW)
    flags = [(_ANY_BIT, 1, 0, _THREAD)] if is_code else [(_ANY_BIT, 0, 1, _NEW_NAMESPACES)]
    program += [(_EQUAL, 0, 4, _CLONE[place]), (_LOAD, 0, 0, 16), *flags, refused, allowed]
    families = [
        (_EQUAL, len(_FAMILIES) - at, 0, int(family)) for at, family in enumerate(_FAMILIES)
    ]
    program += [(_EQUAL, 0, len(families) + 2, _SOCKET[place]), (_LOAD, 0, 0, 16), *families]
    program += [(_RETURN, 0, 0, _ERRNO | _EAFNOSUPPORT), allowed]
    raw = b"".join(struct.pack("HBBI", *line) for line in program)
    held = ctypes.create_string_buffer(raw, len(raw))
    pointer = ctypes.create_string_buffer(
        struct.pack("HxxxxxxQ", len(program), ctypes.addressof(held))
    )
    _call("prctl", 22, 2, pointer, 0, 0)


def _enclose(asked: dict[str, Any]) -> None:
    """Creates the namespaces without bubblewrap, and continues in a child inside them."""
    if sys.platform != "linux":
        raise OSError("This sandbox is available on Linux only.")
    uid, gid = os.getuid(), os.getgid()
    _call("unshare", _UNSHARED)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    _stand_by()
    _build(asked)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        flags = ctypes.create_string_buffer(struct.pack("16sH14x", b"lo", 1))
        _call("ioctl", any_socket.fileno(), 0x8914, flags)
    _stand_by()


def _stand_by() -> None:
    """Returns in a child that ends with its parent. The parent waits and exits like the child."""
    if sys.platform != "linux":
        raise OSError("This sandbox is available on Linux only.")
    child = os.fork()
    if not child:
        _call("prctl", 1, signal.SIGKILL, 0, 0, 0)
        return
    for descriptor in (0, 1):
        os.close(descriptor)
    while True:
        pid, status = os.wait()
        if pid == child:
            os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _build(asked: dict[str, Any]) -> None:
    """Builds a root that holds only what is bound into it, and detaches the old root."""
    _call("mount", b"none", b"/", None, _REC | _PRIVATE, None)
    _call("mount", b"tmpfs", b"/tmp", b"tmpfs", _NOSUID | _NODEV, None)
    for name in ("old", "new"):
        Path("/tmp", name).mkdir()
    _pivot("/tmp", "/tmp/old")
    os.chdir("/")
    _call("mount", b"tmpfs", b"/new", b"tmpfs", _NOSUID | _NODEV, b"size=1m,mode=755")
    for link, target in asked["links"]:
        Path("/new" + link).symlink_to(target)
    for place in asked["devices"]:
        _bind(place, place)
    _mount_new("/new/proc", b"proc", b"")
    for real, place in asked["shown"]:
        _bind(real, place)
        _set_attributes("/new" + place, _RDONLY | _NOSUID | _NODEV)
    options = f"size={asked['size']},mode=700".encode()
    _mount_new(f"/new{asked['scratch']}", b"tmpfs", options, flags=_NOSUID | _NODEV)
    if asked["kept"]:
        real, place = asked["kept"]
        _bind(real, place)
        _set_attributes("/new" + place, _NOSUID | _NODEV)
    _set_attributes("/new", _RDONLY, recursive=False)
    os.chdir("/new")
    _pivot(".", ".")
    _call("umount2", b".", _DETACH)
    os.chdir("/")


def _mount_new(
    path: str, kind: bytes, options: bytes, flags: int = _NOSUID | _NODEV | _NOEXEC
) -> None:
    Path(path).mkdir(parents=True, exist_ok=True)
    _call("mount", kind, path.encode(), kind, flags, options)


def _bind(real: str, place: str) -> None:
    source, target = Path("/old" + real), Path("/new" + place)
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        target.mkdir() if source.is_dir() else target.touch()
    _call("mount", bytes(source), bytes(target), None, _BIND | _REC, None)


def _set_attributes(path: str, attributes: int, *, recursive: bool = True) -> None:
    attributes_buffer = ctypes.create_string_buffer(struct.pack("QQQQ", attributes, 0, 0, 0))
    at = 0x8000 if recursive else 0
    _call("syscall", _MOUNT_SETATTR, -100, path.encode(), at, attributes_buffer, 32)


def _pivot(new: str, old: str) -> None:
    _call("syscall", _PIVOT_ROOT[platform.machine()], new.encode(), old.encode())


def _call(name: str, *given: Any) -> None:
    if getattr(_libc, name)(
        *(ctypes.c_ulong(value) if type(value) is int else value for value in given)
    ):
        error = ctypes.get_errno()
        raise OSError(error, f"{name} {given}: {os.strerror(error)}")


if __name__ == "__main__":
    main(sys.argv[-1:])
