"""All settings: titles, limits, defaults and help. The settings page is made from them."""

import json
import re
from ipaddress import ip_network
from typing import Annotated, Any, Literal
from urllib.parse import SplitResult, urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from server.sentences import Sentence

BAD_ORIGIN = "origin"
ORIGIN_FORM = Sentence("A web page is allowed as https://host or http://host:port.")
HOST_FORM = "A host of files is allowed as https://host or http://host:port."
DEFAULT_PORTS = {"https": 443, "http": 80}
_ORIGIN = re.compile(
    r"(?!(?:file|data|blob|about|javascript):)[a-z][a-z0-9+.-]*://"
    r"(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?"
)
"""Matches origins, including schemes of browser extensions and programs: app://obsidian.md."""

LONGEST = 300
"""Characters. A host name has at most 253, and a longer origin could not be shown whole."""


def _wrong(kind: str, sentence: str) -> PydanticCustomError:
    """Returns the error for a value. Its context keeps the sentence; its message is plain text."""
    return PydanticCustomError(kind, "{sentence}", {"sentence": sentence})


def reason_of(error: ValidationError) -> str:
    """Returns the first reason, without the value, which may hold a password."""
    first = error.errors()[0]
    return str(first.get("ctx", {}).get("sentence", first["msg"]))


def checked_origin(text: str) -> str:
    """Checks the exact origin of a page.

    `null` is refused, because files and many others share it. Patterns are refused, too.
    """
    origin = text.strip().removesuffix("/").lower()
    if not can_be_allowed(origin):
        raise _wrong(BAD_ORIGIN, ORIGIN_FORM)
    return origin


def checked_file_host(text: str) -> str:
    """Returns the origin of a host that files are fetched from. Without a scheme it is https."""
    address = text.strip().removesuffix("/").lower()
    address = address if "://" in address else f"https://{address}"
    parts = _split_web_address(address)
    if parts is None or not can_be_allowed(address):
        raise _wrong(BAD_ORIGIN, HOST_FORM)
    return address.removesuffix(f":{DEFAULT_PORTS[parts.scheme]}")


def _split_web_address(address: str) -> SplitResult | None:
    """Returns the parts of an HTTP or HTTPS address; None for anything else."""
    try:
        parts = urlsplit(address)
        is_good = parts.scheme in DEFAULT_PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if is_good else None


def can_be_allowed(origin: str) -> bool:
    return len(origin) <= LONGEST and _ORIGIN.fullmatch(origin) is not None


DEFAULT_PORT = 7777
OPENBB_ORIGINS = ("https://pro.openbb.co", "https://pro.openbb.dev")
PROXY_FORM = Sentence("A proxy is written as http://host:port.")


def proxy_address(text: str) -> str:
    """Adds the scheme, which people leave out: without it, the host would be read as the scheme."""
    text = text.strip()
    if not text:
        return ""
    address = text if "://" in text else f"http://{text}"
    if _split_web_address(address) is None or any(letter.isspace() for letter in address):
        raise _wrong("proxy", PROXY_FORM)
    return address


CHOICES = {
    "loopback": "This computer only",
    "network": "Any computer on the network",
    "named": "Only when named",
    "typescript": "TypeScript",
    "json": "JSON",
    "f16": "Full (F16)",
    "q8_0": "Half the memory (Q8_0)",
    "q4_0": "A quarter of the memory (Q4_0)",
    "system": "Same as the system",
    "en": "English",
    "zh": "简体中文",
    "de": "Deutsch",
}
"""The labels of a setting's choices. Languages are written in themselves."""


def choice_label(value: str) -> str:
    return CHOICES.get(value, value[:1].upper() + value[1:])


HOST_NAME = "host name"
HOST_NAME_FORM = "A host name is written as moat.example.com or moat.example.com:8443."
NETWORK_FORM = Sentence("A proxy is written as 127.0.0.1 or 10.0.0.0/8.")
_NAME = re.compile(r"(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?")


def checked_host_name(text: str) -> str:
    """Checks a host name. Patterns are refused, because a page could choose a matching name."""
    name = text.strip().lower().removesuffix(".")
    if len(name) > LONGEST or not _NAME.fullmatch(name):
        raise _wrong(HOST_NAME, HOST_NAME_FORM)
    return name


def checked_network(text: str) -> str:
    try:
        return str(ip_network(text.strip()))
    except ValueError:
        raise _wrong("network", NETWORK_FORM) from None


def setting(default: Any, title: str, about: str | None = None, **bounds: Any) -> Any:
    """Declares a setting with its default, title, one or two sentences of help, and limits."""
    return Field(default, title=title, description=about, **bounds)


class Group(BaseModel):
    """A group of settings. A change makes a copy; unknown fields of a newer version are kept."""

    model_config = ConfigDict(frozen=True, extra="allow")


class ServerSettings(Group):
    port: int = setting(
        DEFAULT_PORT, "Port", "If it is taken, the next free port is used.", ge=1024, le=65535
    )
    listen: Literal["loopback", "network"] = setting(
        "loopback",
        "Who may connect",
        "Other computers connect by HTTPS and always need an access key.",
    )
    require_key: bool = setting(
        False,
        "Require an access key",
        "Clients must send it as a bearer token. Always required when any "
        "computer on the network may connect.",
    )
    origins: tuple[Annotated[str, AfterValidator(checked_origin)], ...] = setting(
        OPENBB_ORIGINS,
        "Web pages that may connect",
        "Exact origins, for example https://pro.openbb.co.",
    )
    host_names: tuple[Annotated[str, AfterValidator(checked_host_name)], ...] = setting(
        (),
        "Extra host names",
        "Names besides localhost that clients may use, with or without the port.",
    )
    proxies: tuple[Annotated[str, AfterValidator(checked_network)], ...] = setting(
        (),
        "Reverse proxies",
        "Addresses or networks, for example 127.0.0.1 or 10.0.0.0/8. Moat trusts what they report "
        "about the client (X-Forwarded-For, X-Forwarded-Proto). Requires the key.",
    )
    plain_network: bool = setting(
        False,
        "Allow connections without encryption",
        "Off: other computers must use HTTPS. On: the key and all texts travel "
        "unencrypted, and anyone who can listen on that network can read and use them.",
    )
    https: bool = setting(
        False,
        "HTTPS",
        "For Safari; always on when other computers may connect. The Connect page "
        "shows the certificate to trust.",
    )
    certificate: str = setting(
        "", "Certificate (PEM file)", "With its chain. Empty: one that Moat makes itself."
    )
    certificate_key: str = setting("", "Key of the certificate (PEM file)")
    https_port: int = setting(7443, "HTTPS port", ge=1024, le=65535)
    max_body_mb: int = setting(48, "Maximum request size (MB)", ge=1, le=1024)
    max_requests: int = setting(512, "Maximum concurrent requests", ge=1, le=4096)
    start_serving: bool = setting(True, "Start the server with Moat")
    log_format: Literal["text", "json"] = setting(
        "text", "Log format", "'json' writes an object in each line, for those who collect logs."
    )

    @property
    def asks_for_key(self) -> bool:
        """Whether a key is required: always if other machines connect, also through a proxy."""
        return self.require_key or self.listen == "network" or bool(self.proxies)


OWN_FORM = 'Settings of a model are written as NAME {"temperature": 0.2, "context_tokens": 4096}.'


class OwnSettings(Group):
    """The settings of a single model. A field that is None has the value for all models."""

    name: Annotated[str, Field(min_length=1, max_length=LONGEST, title="Model")]
    context_tokens: int | None = setting(
        None, "Context (tokens)", "0: as large as the model allows.", ge=0, le=1_048_576
    )
    gpu_layers: int | None = setting(None, "GPU layers", "-1: as many as fit.", ge=-1, le=999)
    temperature: float | None = setting(
        None, "Temperature", "0: always the likeliest token.", ge=0, le=2
    )
    top_p: float | None = setting(None, "Top-p", ge=0, le=1)
    top_k: int | None = setting(None, "Top-k", "0: no limit.", ge=-1, le=1_000_000)
    min_p: float | None = setting(None, "Min-p", ge=0, le=1)
    repeat_penalty: float | None = setting(None, "Repeat penalty", ge=0, le=10)
    system_prompt: str | None = setting(
        None, "System prompt", "For conversations without one of their own.", max_length=100_000
    )
    thinking: Literal["on", "off"] | None = setting(
        None, "Thinking", "For models whose template can switch it."
    )

    @model_validator(mode="before")
    @classmethod
    def _read_text(cls, given: Any) -> Any:
        """Accepts a text, too: NAME {"setting": value, …}."""
        if not isinstance(given, str):
            return given
        name, mark, rest = given.partition(" {")
        try:
            values = json.loads(f"{{{rest}") if mark else {}
        except ValueError:
            raise _wrong("own", OWN_FORM) from None
        return {**values, "name": name.strip()}

    def __str__(self) -> str:
        return f"{self.name} {json.dumps(self.values, ensure_ascii=False)}"

    @property
    def values(self) -> dict[str, Any]:
        """The fields that are set."""
        return self.model_dump(exclude_none=True, exclude={"name"})


OWN_FIELDS = {name: info for name, info in OwnSettings.model_fields.items() if name != "name"}
"""The settings that a single model can have."""


def _once_each(given: tuple[OwnSettings, ...]) -> tuple[OwnSettings, ...]:
    if len({own.name for own in given}) < len(given):
        raise _wrong("own", "A model may have one entry.")
    return given


class ModelSettings(Group):
    name: str = setting("", "Model", "The default model. Empty: the starter model.")
    load_at_start: bool = setting(True, "Load the model when Moat starts")
    context_tokens: int = setting(
        0, "Context (tokens)", "0: as large as the model allows.", ge=0, le=1_048_576
    )
    slots: int = setting(4, "Concurrent answers", ge=1, le=64)
    threads: int = setting(0, "CPU threads", "0: all cores.", ge=0, le=256)
    gpu_layers: int = setting(-1, "GPU layers", "-1: as many as fit.", ge=-1, le=999)
    kv_type: Literal["f16", "q8_0", "q4_0"] = setting("f16", "Cache precision")
    batch_tokens: int = setting(
        512,
        "Batch size (tokens)",
        "A larger batch reads long prompts faster on a GPU and uses more memory.",
        ge=32,
        le=4096,
    )
    gpu_split: tuple[float, ...] = setting(
        (),
        "Split across GPUs",
        "For example 3 and 1: three quarters on the first. Empty: by free memory.",
    )
    main_gpu: int = setting(
        -1, "The only GPU to use", "0: the first. -1: all of them.", ge=-1, le=63
    )
    cpu_experts: int = setting(
        -1,
        "Layers whose experts stay on the processor",
        "For mixture-of-experts models on small GPUs. -1: as many as needed, 999: all.",
        ge=-1,
        le=999,
    )
    kv_offload: bool = setting(True, "Cache on the GPU", "Off: more layers fit, and it is slower.")
    flash_attention: Literal["auto", "on", "off"] = setting("auto", "Flash attention")
    calibrate: bool = setting(
        True,
        "Try out and measure new models",
        "When idle: a short test of whether the model can plan, then a few seconds to choose "
        "flash attention, batch size and threads where these are automatic. Used from the next "
        "start.",
    )
    device_sampling: Literal["auto", "on", "off"] = setting(
        "auto", "Choose tokens on the GPU", "Auto: where several answers are made at once."
    )
    prompt_cache_mb: int = setting(1024, "Prompt cache in memory (MB)", ge=0, le=65536)
    prompt_disk_mb: int = setting(
        0,
        "Prompt cache on disk (MB)",
        "Long conversations need not be read again after a restart. 0: off.",
        ge=0,
        le=1_048_576,
    )
    speculate: bool = setting(
        True,
        "Prompt-lookup speculative decoding",
        "Speeds up answers that quote the prompt or contain tables.",
    )
    draft_model: str = setting(
        "",
        "Draft model",
        "A small GGUF file of the same model family for speculative decoding. Empty: none.",
    )
    loras: tuple[str, ...] = setting((), "LoRA adapters (GGUF files)")
    tool_signatures: Literal["typescript", "json"] = setting(
        "typescript",
        "Tool description format",
        "For models without a tool format of their own. TypeScript is shorter.",
    )
    queue_limit: int = setting(64, "Maximum queued requests", ge=1, le=1024)
    idle_unload_min: int = setting(0, "Unload when idle (minutes)", "0: never.", ge=0, le=1440)
    memory_budget_mb: int = setting(
        0, "Memory for loaded models (MB)", "0: no limit.", ge=0, le=4_194_304
    )
    folders: tuple[str, ...] = setting((), "Additional model folders")
    in_hub_cache: bool = setting(
        False,
        "Keep downloads in Hugging Face's cache",
        "llama.cpp, vLLM and transformers find them there and use the same bytes.",
    )
    files: tuple[str, ...] = setting((), "Models used in place", "GGUF files, not copied.")
    backends: str = setting(
        "",
        "Folder with support for graphics cards",
        "Backends made for this engine. Empty: 'backends' beside the models.",
    )
    own: Annotated[tuple[OwnSettings, ...], AfterValidator(_once_each)] = setting(
        (), "Settings of single models", "The details of a model on the Models page change them."
    )

    def own_of(self, name: str) -> OwnSettings:
        none = OwnSettings.model_construct(name=name)
        return next((own for own in self.own if own.name == name), none)

    def for_model(self, name: str) -> "ModelSettings":
        """Returns these settings with the model's own values in place of the shared ones."""
        own = self.own_of(name).values
        shared = {field: value for field, value in own.items() if field in type(self).model_fields}
        return self.model_copy(update=shared) if shared else self


ENGINE_FORM = Sentence(
    "An engine is written as http://host:port/v1, without a name or password in it."
)


def checked_engine_url(text: str) -> str:
    """Adds the scheme, which people leave out, and the /v1 of OpenAI's API if there is no path."""
    address = text.strip()
    address = (address if "://" in address else f"http://{address}").rstrip("/")
    parts = _split_web_address(address)
    is_plain = parts and parts.username is None and not parts.query and not parts.fragment
    if parts is None or not is_plain or not address.isprintable() or " " in address:
        raise _wrong("engine", ENGINE_FORM)
    return address if parts.path else f"{address}/v1"


class EngineElsewhere(Group):
    """A model that a server runs: vLLM, SGLang, llama-server, or another with OpenAI's API.

    Its key is in the keyring, under `engine-` and its name.
    """

    name: Annotated[
        str,
        Field(
            min_length=1,
            max_length=120,
            pattern=r"^[^\x00-\x1f\x7f]+$",
            title="Name",
            description="What programs ask for it by.",
        ),
    ]
    urls: Annotated[
        tuple[Annotated[str, AfterValidator(checked_engine_url)], ...],
        Field(
            min_length=1,
            max_length=64,
            title="Addresses",
            description="http://host:port/v1; several servers of the same model share the work.",
        ),
    ]
    model: str = setting("", "Model on the server", "Empty: the first that the server lists.")
    context_tokens: int = setting(0, "Context (tokens)", "0: what it says.", ge=0, le=16_777_216)
    billions: float = setting(
        0.0,
        "Parameters (billions)",
        "0: what it says. A model of unknown size counts as able.",
        ge=0,
        le=100_000,
    )
    images: Literal["ask", "yes", "no"] = setting("ask", "Reads images", "'ask': what it says.")
    tools: Literal["server", "moat"] = setting(
        "server",
        "Tool calls are parsed by",
        "'moat' where the server has no tool parser for the model.",
    )

    @model_validator(mode="before")
    @classmethod
    def _read_text(cls, given: Any) -> Any:
        """Accepts a text, too: [NAME=]URL[,URL…][#MODEL]."""
        return _fields_of(given) if isinstance(given, str) else given

    def __str__(self) -> str:
        model = f"#{self.model}" if self.model else ""
        return f"{self.name}={','.join(self.urls)}{model}"

    @property
    def hosts(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(urlsplit(url).netloc for url in self.urls))

    @classmethod
    def of(cls, text: str) -> "EngineElsewhere":
        """Reads [NAME=]URL[,URL…][#MODEL]. The default name is the model, or else the host."""
        return cls.model_validate(text)


def _fields_of(text: str) -> dict[str, Any]:
    address, _, model = text.partition("#")
    name, mark, rest = address.partition("=")
    if not mark or "/" in name:
        name, rest = "", address
    urls = tuple(checked_engine_url(url) for url in rest.split(",") if url.strip())
    host = urlsplit(urls[0]).netloc if urls else ""
    return {"name": name.strip() or model or host, "urls": urls, "model": model}


class EngineSettings(Group):
    elsewhere: tuple[EngineElsewhere, ...] = setting(
        (),
        "Remote engines",
        "name=http://host:port/v1 for each. The Models page adds and tests them.",
    )


class CopilotSettings(Group):
    answer_tokens: int = setting(
        2048, "Maximum answer length for pages (tokens)", ge=16, le=1_048_576
    )
    remote_agents: tuple[str, ...] = setting(
        (),
        "Remote agents",
        "'copilotkit URL' for a CopilotKit endpoint, 'langgraph URL' for a server.",
    )
    keep_threads: bool = setting(
        False,
        "Save conversations with pages",
        "Off: conversations are deleted when Moat quits, those saved before too.",
    )


class PluginSettings(Group):
    serve_clients: bool = setting(
        False,
        "Let connected programs use plugins",
        "Calls that change something still wait for your permission here.",
    )
    paused: bool = setting(
        False,
        "Pause plugins",
        "No plugin is used while paused. Which ones are enabled does not change.",
    )
    choose: Literal["automatic", "named"] = setting(
        "automatic", "When a plugin answers", "Only when named: the question begins with @plugin."
    )


class WindowSettings(Group):
    theme: Literal["system", "light", "dark"] = setting("system", "Theme")
    language: Literal["system", "en", "zh", "de"] = setting("system", "Language")
    close_to_tray: bool = setting(True, "Keep running in the tray when the window is closed")


class NetworkSettings(Group):
    offline: bool = setting(False, "Offline", "Block every outgoing connection.")
    proxy: Annotated[str, AfterValidator(proxy_address)] = setting("", "Proxy", "http://host:port")
    extra_ca: str = setting("", "Extra certificate authority (PEM file)")
    own_domains: tuple[str, ...] = setting(
        (),
        "Domains of your own network",
        "Names in these domains may resolve to private addresses; all others are blocked.",
    )
    file_hosts: tuple[Annotated[str, AfterValidator(checked_file_host)], ...] = setting(
        (),
        "Hosts files may be downloaded from",
        "For files that a dashboard sends as links, for example "
        "https://files.example.com. Links to other hosts are not opened.",
    )
    hub: str = setting(
        "", "Model hub", "A mirror of Hugging Face. Empty: HF_ENDPOINT, else huggingface.co."
    )
    hub_storage: tuple[str, ...] = setting(
        (), "Storage hosts of the hub", "Other domains a mirror may redirect downloads to."
    )
    download_limit_mb_s: int = setting(0, "Download limit (MB/s)", "0: none.", ge=0, le=100_000)


class UpdateSettings(Group):
    look: bool = setting(
        False,
        "Check for updates once a day",
        "Moat only notifies you. Nothing is downloaded or installed automatically.",
    )
    address: str = setting("", "Update feed", "Empty: the address built into this package.")
    key: str = setting(
        "",
        "Update signing key",
        "Ed25519 public key in base64. Updates without its signature are ignored.",
    )
    files: str = setting(
        "",
        "Address of release files",
        "Support for graphics cards is fetched from here, when you ask for it. "
        "Empty: the folder of the update feed.",
    )


class PrivacySettings(Group):
    log_prompts: bool = setting(
        False, "Write prompts to the log", "Turn on only to find a problem."
    )


class Settings(Group):
    server: ServerSettings = Field(default_factory=ServerSettings, title="Server")
    model: ModelSettings = Field(default_factory=ModelSettings, title="Model")
    engines: EngineSettings = Field(default_factory=EngineSettings, title="Remote engines")
    copilot: CopilotSettings = Field(default_factory=CopilotSettings, title="Copilots")
    plugins: PluginSettings = Field(default_factory=PluginSettings, title="Plugins")
    window: WindowSettings = Field(default_factory=WindowSettings, title="Window")
    network: NetworkSettings = Field(default_factory=NetworkSettings, title="Network")
    privacy: PrivacySettings = Field(default_factory=PrivacySettings, title="Privacy")
    updates: UpdateSettings = Field(default_factory=UpdateSettings, title="Updates")

    def changed(self, field: str, value: Any) -> "Settings":
        """Returns a checked copy with one field changed; `field` is a dotted name like server.port.

        Raises KeyError for an unknown field and ValueError for a bad value.
        """
        group_name, _, name = field.partition(".")
        group = getattr(self, group_name, None)
        if not isinstance(group, Group) or name not in type(group).model_fields:
            raise KeyError(field)
        checked = type(group).model_validate({**group.model_dump(), name: value})
        return self.model_copy(update={group_name: checked})
