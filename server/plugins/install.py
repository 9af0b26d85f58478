"""Installs a plugin from a zip or a folder. Checks it before unpacking, keeps the old version."""

import shutil
import stat
import tempfile
import zipfile
from pathlib import Path, PurePosixPath

from server.errors import AppError
from server.plugins.folder import APART, MAX_BYTES, MAX_FILES, Loaded, everything_in, is_key, load

PREVIOUS = ".previous"
MAX_RATIO = 200
"""A file that grows by more than this factor is a bomb."""
SMALL = 64 * 1024


class PluginRefused(AppError):
    code = "plugin_refused"
    status = 422


def install(source: Path, home: Path) -> Loaded:
    """Puts the plugin in place, and keeps the earlier version for a rollback."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".incoming-", dir=home) as name:
        draft = Path(name)
        folder = _from_folder(source, draft) if source.is_dir() else _from_zip(source, draft)
        _make_private(folder)
        loaded = load(folder)
        if loaded.manifest is None:
            told = "; ".join(str(finding) for finding in loaded.findings[:3])
            raise PluginRefused(f"This is not a plugin: {told}")
        target = home / folder.name
        if target.exists():
            keep_previous(home, folder.name)
        shutil.move(folder, target)
    return load(target)


def keep_previous(home: Path, key: str) -> None:
    previous = home / PREVIOUS / key
    if previous.exists():
        shutil.rmtree(previous)
    previous.parent.mkdir(mode=0o700, exist_ok=True)
    shutil.move(home / key, previous)


def roll_back(home: Path, key: str) -> None:
    """Swaps the old and the new version."""
    current, previous = _place(home, key), home / PREVIOUS / key
    if not previous.is_dir():
        raise PluginRefused(f"There is no earlier version of {key}.")
    aside = home / PREVIOUS / f"{key}.aside"
    if current.exists():
        shutil.move(current, aside)
    shutil.move(previous, current)
    if aside.exists():
        shutil.move(aside, previous)


def remove(home: Path, key: str) -> None:
    for folder in (_place(home, key), home / PREVIOUS / key):
        if folder.is_dir():
            shutil.rmtree(folder)


def _place(home: Path, key: str) -> Path:
    """Returns the plugin's folder: never the folder of all plugins, or one around it."""
    folder = home / key
    if folder.resolve().parent != home.resolve():
        raise PluginRefused(f"'{key}' cannot be a plugin's name.")
    return folder


def _check_key(name: str) -> str:
    if not is_key(name):
        raise PluginRefused(f"'{name}' cannot be a plugin's name.")
    return name


def _from_folder(source: Path, draft: Path) -> Path:
    _check_key(source.name)
    size = 0
    for count, path in enumerate(everything_in(source), 1):
        size += path.stat().st_size if path.is_file() and not path.is_symlink() else 0
        if path.is_symlink():
            raise PluginRefused(f"{path.name} is a link; links are not copied.")
        if count > MAX_FILES or size > MAX_BYTES:
            raise PluginRefused(_too_large())
    skipped = shutil.ignore_patterns(*APART)
    return Path(shutil.copytree(source, draft / source.name, ignore=skipped))


def _from_zip(source: Path, draft: Path) -> Path:
    try:
        with zipfile.ZipFile(source) as archive:
            entries = [entry for entry in archive.infolist() if _is_meant(entry)]
            _check(entries)
            top = _top(entries)
            folder = draft / _check_key(top or source.stem)
            for entry in entries:
                _unpack(archive, entry, draft if top else folder)
    except FileNotFoundError:
        raise PluginRefused(f"There is no file {source.name}.") from None
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError) as error:
        raise PluginRefused(f"{source.name} is not a zip file that can be unpacked.") from error
    return folder


def _make_private(folder: Path) -> None:
    """Makes the files private to their owner. Programs stay runnable."""
    folder.chmod(0o700)
    for path in folder.rglob("*"):
        runs = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
        path.chmod(0o700 if runs else 0o600)


def _path(entry: zipfile.ZipInfo) -> PurePosixPath:
    """Removes a leading ./."""
    return PurePosixPath(entry.filename.replace("\\", "/"))


def _is_meant(entry: zipfile.ZipInfo) -> bool:
    """Leaves out what a Mac adds for itself, and an entry for the root."""
    path = _path(entry)
    return bool(path.parts) and path.parts[0] != "__MACOSX" and path.name != ".DS_Store"


def _check(entries: list[zipfile.ZipInfo]) -> None:
    """Checks everything that the archive claims, before anything is read from it."""
    if len(entries) > MAX_FILES:
        raise PluginRefused(f"{_too_large()} This archive has {len(entries)} entries.")
    size = 0
    for entry in entries:
        name = entry.filename
        path = _path(entry)
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if path.is_absolute() or ".." in path.parts or ":" in name or "\0" in name:
            raise PluginRefused(f"The archive has an entry that leads outside: '{name}'.")
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise PluginRefused(f"The archive has an entry that is not a file: '{name}'.")
        if entry.flag_bits & 1:
            raise PluginRefused("The archive is encrypted.")
        size += entry.file_size
        packed = max(entry.compress_size, 1)
        if size > MAX_BYTES or (entry.file_size > SMALL and entry.file_size / packed > MAX_RATIO):
            raise PluginRefused(f"{_too_large()} '{name}' would go beyond that.")


def _unpack(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, root: Path) -> None:
    target = root / _path(entry)
    if entry.is_dir():
        target.mkdir(parents=True, exist_ok=True)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(entry) as packed, target.open("xb") as file:
        # The header may lie about the size, so the bytes are counted too.
        left = entry.file_size
        while chunk := packed.read(64 * 1024):
            left -= len(chunk)
            if left < 0:
                raise PluginRefused(f"'{entry.filename}' is larger than it says.")
            file.write(chunk)


def _top(entries: list[zipfile.ZipInfo]) -> str:
    """Returns the only top folder; empty if the files lie at the root."""
    firsts = {_path(entry).parts[0] for entry in entries}
    names = {str(_path(entry)) for entry in entries}
    if len(firsts) == 1 and "plugin.json" not in names:
        return firsts.pop()
    if "plugin.json" not in names:
        raise PluginRefused("The archive has no plugin.json at its root or in its one folder.")
    return ""


def _too_large() -> str:
    return f"A plugin has at most {MAX_FILES} files and {MAX_BYTES // 2**20} MB."
