"""The programs of these tests: llama-servers, Moat before them, nginx before Moat."""

import http.client
import json
import os
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scripts.build_llama_server import llama_server as built_llama_server
from server.engine.worker.load.plan import usable_cores
from server.face import client
from server.face.core import KeyLimits
from server.models import library
from tests.bench.servers import ROOT, Server, Shape, llama_server
from tests.kit.programs import need
from tests.kit.programs import program as started_program
from tests.kit.running import READY, Moat, serving

RESULTS = ROOT / "build" / "elsewhere"
ALIAS = "far-model"
NAME = "moat.example.com"
LOOPBACK = "127.0.0.1"
PAGES = "https://pro.openbb.co,http://localhost:3000"
"""The pages that the kits of OpenBB and CopilotKit imitate."""
NGINX = """
worker_processes 1; daemon off; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
{server}
}}
"""
"""The configuration around the server of packaging/team/nginx.conf, to run without root."""


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def starter() -> Path:
    model = library.find_starter()
    if model is None:
        sys.exit("The starter model is not installed; 'make setup' brings it.")
    return model


@contextmanager
def far(
    slots: int = 4, context_tokens: int = 8192, *, threads: int = 0, model: Path | None = None
) -> Iterator[Server]:
    """Runs llama.cpp's own server, by default with the starter; metrics and slots are visible."""
    more = ("-fa", "off", "-no-kvu", "--metrics", "--slots", "--alias", ALIAS)
    threads = threads or int(os.environ.get("THREADS") or usable_cores())
    shape = Shape(model or starter(), slots, context_tokens, threads, theirs=more)
    with llama_server(built_llama_server(), shape) as server:
        yield server


def split_cores() -> tuple[set[int], set[int]]:
    """Returns half of the cores for servers and half for what asks them; one core is shared."""
    if sys.platform != "linux":
        sys.exit("This needs Linux: it keeps programs on cores of their own.")
    cores = sorted(os.sched_getaffinity(0))
    half = max(1, len(cores) // 2)
    return set(cores[:half]), set(cores[half:] or cores)


@contextmanager
def on_cores(cores: set[int]) -> Iterator[None]:
    """Keeps this program on these cores, and for good the programs that it starts meanwhile."""
    if sys.platform != "linux":
        raise NotImplementedError
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def address_of(server: Server) -> str:
    return f"http://{LOOPBACK}:{server.port}"


@dataclass(frozen=True, slots=True)
class Placed:
    """A running Moat and its home folder."""

    moat: Moat
    home: Path

    @property
    def address(self) -> str:
        return self.moat.address

    def used_s(self) -> float:
        """Returns the processor time of Moat and its children so far."""
        times = [process.cpu_times() for process in self.moat.family()]
        return float(sum(spent.user + spent.system for spent in times))

    async def make_key(self, name: str, limits: KeyLimits) -> str:
        running = await client.find(self.home / "run" / "control.json")
        assert running
        made: str = await running.command("add_key", name=name, limits=asdict(limits))
        return made


@contextmanager
def moat_before(*engines: str, wait_for: str = READY, **variables: str) -> Iterator[Placed]:
    """Runs Moat with its own home. Each engine is written as for `moat serve --engine`."""
    given = [part for engine in engines for part in ("--engine", engine)]
    with tempfile.TemporaryDirectory() as home:
        environment = {
            "MOAT_HOME": home,
            "MOAT_SERVER__ORIGINS": PAGES,
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
            **variables,
        }
        with serving(*given, environment=environment, wait_for=wait_for) as moat:
            yield Placed(moat, Path(home))


def show(found: dict[str, Any]) -> None:
    for name, figure in found.items():
        say(f"{name:40} {figure:.3f}" if isinstance(figure, float) else f"{name:40} {figure}")


def keep(name: str, found: Any) -> None:
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / name
    text = found if isinstance(found, str) else json.dumps(found, indent=2)
    path.write_text(text, encoding="utf-8")
    say(f"written to {path.relative_to(ROOT)}")


class Proxy:
    """nginx with TLS before Moat. Programs started by `inside` find it by its name."""

    def __init__(self, folder: Path, port: int) -> None:
        self.host, self.port = f"{NAME}:{port}", port
        self.address = f"https://{self.host}"
        self.certificate = str(folder / "certificate.pem")
        hosts = folder / "hosts"
        hosts.write_text(f"127.0.0.1 localhost {NAME}\n", encoding="utf-8")
        bound = ("--dev-bind", "/", "/", "--ro-bind", str(hosts), "/etc/hosts")
        self.inside = (need("bwrap"), *bound)
        trusted = {"NODE_EXTRA_CA_CERTS": self.certificate, "SSL_CERT_FILE": self.certificate}
        self.environment = {**os.environ, **trusted}

    def ask(self, path: str, headers: dict[str, str]) -> int:
        """Returns the status. It connects by address, so that any host name can be claimed."""
        trusting = ssl.create_default_context(cafile=self.certificate)
        trusting.check_hostname = False
        link = http.client.HTTPSConnection(LOOPBACK, self.port, context=trusting, timeout=180)
        with closing(link):
            link.request("GET", path, headers=headers)
            return link.getresponse().status


@contextmanager
def nginx_before(program: str, address: str, port: int) -> Iterator[Proxy]:
    with tempfile.TemporaryDirectory() as held:
        folder = Path(held)
        _make_certificate(folder)
        example = (ROOT / "packaging" / "team" / "nginx.conf").read_text("utf-8")
        for usual, ours in {
            "/etc/ssl/moat": held,
            "listen 443 ssl": f"listen {LOOPBACK}:{port} ssl",
            "127.0.0.1:7777": address.removeprefix("http://"),
        }.items():
            assert usual in example, usual
            example = example.replace(usual, ours)
        (folder / "nginx.conf").write_text(NGINX.format(folder=held, server=example), "utf-8")
        command = [program, "-p", held, "-c", str(folder / "nginx.conf")]
        with started_program(command, port, folder):
            yield Proxy(folder, port)


def _make_certificate(folder: Path) -> None:
    """Makes a certificate for the name, with openssl."""
    command = [need("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    names = ["-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}"]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "certificate.pem")]
    subprocess.run([*command, *names, *files], check=True, capture_output=True)
