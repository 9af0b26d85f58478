"""All settings in one place: title, bounds, default, help. The settings page is made from this."""

import json
import re
from ipaddress import ip_network
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

BAD_ORIGIN = "origin"
ORIGIN_FORM = "A web page is allowed as https://host or http://host:port."
HOST_FORM = "A host of files is allowed as https://host or http://host:port."
DEFAULT_PORTS = {"https": 443, "http": 80}
_ORIGIN = re.compile(
    r"(?!(?:file|data|blob|about|javascript):)[a-z][a-z0-9+.-]*://"
    r"(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?"
)
"""Extensions of browsers and desktop programs have schemes of their own: app://obsidian.md."""

LONGEST = 300
"""Characters: a host name has at most 253. A longer origin could not be shown whole."""


def checked_origin(text: str) -> str:
    """Not `null`, which files and many others share, and no patterns: each page by its name."""
    origin = text.strip().removesuffix("/").lower()
    if not can_be_allowed(origin):
        raise PydanticCustomError(BAD_ORIGIN, ORIGIN_FORM)
    return origin


def checked_file_host(text: str) -> str:
    """The origin of a host that files are fetched from; without a scheme it is https."""
    address = text.strip().removesuffix("/").lower()
    address = address if "://" in address else f"https://{address}"
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        raise PydanticCustomError(BAD_ORIGIN, HOST_FORM) from None
    if parts.scheme not in DEFAULT_PORTS or not can_be_allowed(address) or port == 0:
        raise PydanticCustomError(BAD_ORIGIN, HOST_FORM)
    return address.removesuffix(f":{DEFAULT_PORTS[parts.scheme]}")


def can_be_allowed(origin: str) -> bool:
    return len(origin) <= LONGEST and _ORIGIN.fullmatch(origin) is not None


DEFAULT_PORT = 7777
OPENBB_ORIGINS = ("https://pro.openbb.co", "https://pro.openbb.dev")
PROXY_FORM = "A proxy is written as http://host:port."


def proxy_address(text: str) -> str:
    """With its scheme, which people leave out: without one, a host reads as a scheme."""
    text = text.strip()
    if not text:
        return ""
    address = text if "://" in text else f"http://{text}"
    try:
        found = urlsplit(address)
        is_one = found.scheme in ("http", "https") and bool(found.hostname) and found.port != 0
    except ValueError:
        is_one = False
    if not is_one or any(letter.isspace() for letter in address):
        raise PydanticCustomError("proxy", PROXY_FORM)
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
"""What people read for the values of a choice; a language is written in itself."""


def choice_label(value: str) -> str:
    return CHOICES.get(value, value[:1].upper() + value[1:])


HOST_NAME = "host name"
HOST_NAME_FORM = "A host name is written as moat.example.com or moat.example.com:8443."
NETWORK_FORM = "A proxy is written as 127.0.0.1 or 10.0.0.0/8."
_NAME = re.compile(r"(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?")


def checked_host_name(text: str) -> str:
    """No patterns: a page could choose a name that fits one."""
    name = text.strip().lower().removesuffix(".")
    if len(name) > LONGEST or not _NAME.fullmatch(name):
        raise PydanticCustomError(HOST_NAME, HOST_NAME_FORM)
    return name


def checked_network(text: str) -> str:
    try:
        return str(ip_network(text.strip()))
    except ValueError:
        raise PydanticCustomError("network", NETWORK_FORM) from None


class Group(BaseModel):
    """Frozen, so that a change is a new value; unknown fields of a newer version are kept."""

    model_config = ConfigDict(frozen=True, extra="allow")


class ServerSettings(Group):
    port: Annotated[
        int,
        Field(
            ge=1024,
            le=65535,
            title="Port",
            description="If it is taken, the next free port is used.",
        ),
    ] = DEFAULT_PORT
    listen: Annotated[
        Literal["loopback", "network"],
        Field(
            title="Who may connect",
            description="Other computers connect by HTTPS and always need an access key.",
        ),
    ] = "loopback"
    require_key: Annotated[
        bool,
        Field(
            title="Require an access key",
            description="Clients must send it as a bearer token. Always required when any "
            "computer on the network may connect.",
        ),
    ] = False
    origins: Annotated[
        tuple[Annotated[str, AfterValidator(checked_origin)], ...],
        Field(
            title="Web pages that may connect",
            description="Exact origins, for example https://pro.openbb.co.",
        ),
    ] = OPENBB_ORIGINS
    host_names: Annotated[
        tuple[Annotated[str, AfterValidator(checked_host_name)], ...],
        Field(
            title="Extra host names",
            description="Names besides localhost that clients may use, with or without the port.",
        ),
    ] = ()
    proxies: Annotated[
        tuple[Annotated[str, AfterValidator(checked_network)], ...],
        Field(
            title="Reverse proxies",
            description="Addresses or networks, for example 127.0.0.1 or 10.0.0.0/8. What they "
            "say of the client (X-Forwarded-For, X-Forwarded-Proto) is believed. Requires the key.",
        ),
    ] = ()
    plain_network: Annotated[
        bool,
        Field(
            title="Allow connections without encryption",
            description="Off: other computers must use HTTPS. On: the key and all texts travel "
            "unencrypted, and anyone who can listen on that network can read and use them.",
        ),
    ] = False
    https: Annotated[
        bool,
        Field(
            title="HTTPS",
            description="For Safari; always on when other computers may connect. The Connect page "
            "shows the certificate to trust.",
        ),
    ] = False
    certificate: Annotated[
        str,
        Field(
            title="Certificate (PEM file)",
            description="With its chain. Empty: one that Moat makes itself.",
        ),
    ] = ""
    certificate_key: Annotated[str, Field(title="Key of the certificate (PEM file)")] = ""
    https_port: Annotated[int, Field(ge=1024, le=65535, title="HTTPS port")] = 7443
    max_body_mb: Annotated[int, Field(ge=1, le=1024, title="Maximum request size (MB)")] = 48
    max_requests: Annotated[int, Field(ge=1, le=4096, title="Maximum concurrent requests")] = 512
    start_serving: Annotated[bool, Field(title="Start the server with Moat")] = True
    log_format: Annotated[
        Literal["text", "json"],
        Field(
            title="Log format",
            description="'json' writes an object in each line, for those who collect logs.",
        ),
    ] = "text"

    @property
    def asks_for_key(self) -> bool:
        """Always where other machines connect, directly or through a proxy."""
        return self.require_key or self.listen == "network" or bool(self.proxies)


OWN_FORM = 'Settings of a model are written as NAME {"temperature": 0.2, "context_tokens": 4096}.'


class OwnSettings(Group):
    """What holds for one model alone. A field that is None is as for all models."""

    name: Annotated[str, Field(min_length=1, max_length=LONGEST, title="Model")]
    context_tokens: Annotated[
        int | None,
        Field(
            ge=0,
            le=1_048_576,
            title="Context (tokens)",
            description="0: as large as the model allows.",
        ),
    ] = None
    gpu_layers: Annotated[
        int | None,
        Field(ge=-1, le=999, title="GPU layers", description="-1: as many as fit."),
    ] = None
    temperature: Annotated[
        float | None,
        Field(ge=0, le=2, title="Temperature", description="0: always the likeliest token."),
    ] = None
    top_p: Annotated[float | None, Field(ge=0, le=1, title="Top-p")] = None
    top_k: Annotated[
        int | None, Field(ge=-1, le=1_000_000, title="Top-k", description="0: no limit.")
    ] = None
    min_p: Annotated[float | None, Field(ge=0, le=1, title="Min-p")] = None
    repeat_penalty: Annotated[float | None, Field(ge=0, le=10, title="Repeat penalty")] = None
    system_prompt: Annotated[
        str | None,
        Field(
            max_length=100_000,
            title="System prompt",
            description="For conversations that bring none of their own.",
        ),
    ] = None
    thinking: Annotated[
        Literal["on", "off"] | None,
        Field(title="Thinking", description="For models whose template can switch it."),
    ] = None

    @model_validator(mode="before")
    @classmethod
    def _read_text(cls, given: Any) -> Any:
        """Settings may hold it as a text, too."""
        if not isinstance(given, str):
            return given
        name, mark, rest = given.partition(" {")
        try:
            values = json.loads(f"{{{rest}") if mark else {}
        except ValueError:
            raise PydanticCustomError("own", OWN_FORM) from None
        return {**values, "name": name.strip()}

    def __str__(self) -> str:
        return f"{self.name} {json.dumps(self.values, ensure_ascii=False)}"

    @property
    def values(self) -> dict[str, Any]:
        """The fields that are set."""
        return self.model_dump(exclude_none=True, exclude={"name"})


OWN_FIELDS = {name: info for name, info in OwnSettings.model_fields.items() if name != "name"}
"""What can be set for a model alone."""


def _once_each(given: tuple[OwnSettings, ...]) -> tuple[OwnSettings, ...]:
    if len({own.name for own in given}) < len(given):
        raise PydanticCustomError("own", "A model may have one entry.")
    return given


class ModelSettings(Group):
    name: Annotated[
        str, Field(title="Model", description="The default model. Empty: the starter model.")
    ] = ""
    load_at_start: Annotated[bool, Field(title="Load the model when Moat starts")] = True
    context_tokens: Annotated[
        int,
        Field(
            ge=0,
            le=1_048_576,
            title="Context (tokens)",
            description="0: as large as the model allows.",
        ),
    ] = 0
    slots: Annotated[int, Field(ge=1, le=64, title="Concurrent answers")] = 4
    threads: Annotated[
        int, Field(ge=0, le=256, title="CPU threads", description="0: all cores.")
    ] = 0
    gpu_layers: Annotated[
        int,
        Field(ge=-1, le=999, title="GPU layers", description="-1: as many as fit."),
    ] = -1
    kv_type: Annotated[Literal["f16", "q8_0", "q4_0"], Field(title="Cache precision")] = "f16"
    batch_tokens: Annotated[
        int,
        Field(
            ge=32,
            le=4096,
            title="Batch size (tokens)",
            description="A larger batch reads long prompts faster on a GPU and uses more memory.",
        ),
    ] = 512
    gpu_split: Annotated[
        tuple[float, ...],
        Field(
            title="Split across GPUs",
            description="For example 3 and 1: three quarters on the first. Empty: by free memory.",
        ),
    ] = ()
    main_gpu: Annotated[
        int,
        Field(
            ge=-1, le=63, title="The only GPU to use", description="0: the first. -1: all of them."
        ),
    ] = -1
    cpu_experts: Annotated[
        int,
        Field(
            ge=-1,
            le=999,
            title="Layers whose experts stay on the processor",
            description="For mixture models on small GPUs. -1: as many as must, 999: all.",
        ),
    ] = -1
    kv_offload: Annotated[
        bool, Field(title="Cache on the GPU", description="Off: more layers fit, and it is slower.")
    ] = True
    flash_attention: Annotated[Literal["auto", "on", "off"], Field(title="Flash attention")] = (
        "auto"
    )
    calibrate: Annotated[
        bool,
        Field(
            title="Try out and measure new models",
            description="When nobody asks anything: a short trial whether the model can plan, then "
            "some seconds for flash attention, batch size and threads, where these are left to "
            "Moat. These are used from the next start on.",
        ),
    ] = True
    device_sampling: Annotated[
        Literal["auto", "on", "off"],
        Field(
            title="Choose tokens on the GPU",
            description="Auto: where several answers are made at once.",
        ),
    ] = "auto"
    prompt_cache_mb: Annotated[
        int,
        Field(ge=0, le=65536, title="Prompt cache in memory (MB)"),
    ] = 1024
    prompt_disk_mb: Annotated[
        int,
        Field(
            ge=0,
            le=1_048_576,
            title="Prompt cache on disk (MB)",
            description="Long conversations need not be read again after a restart. 0: off.",
        ),
    ] = 0
    speculate: Annotated[
        bool,
        Field(
            title="Prompt-lookup speculative decoding",
            description="Speeds up answers that quote the prompt or contain tables.",
        ),
    ] = True
    draft_model: Annotated[
        str,
        Field(
            title="Draft model",
            description="A small GGUF file of the same model family for speculative "
            "decoding. Empty: none.",
        ),
    ] = ""
    loras: Annotated[tuple[str, ...], Field(title="LoRA adapters (GGUF files)")] = ()
    tool_signatures: Annotated[
        Literal["typescript", "json"],
        Field(
            title="Tool description format",
            description="For models without a tool format of their own. TypeScript is shorter.",
        ),
    ] = "typescript"
    queue_limit: Annotated[int, Field(ge=1, le=1024, title="Maximum queued requests")] = 64
    idle_unload_min: Annotated[
        int, Field(ge=0, le=1440, title="Unload when idle (minutes)", description="0: never.")
    ] = 0
    memory_budget_mb: Annotated[
        int,
        Field(
            ge=0, le=4_194_304, title="Memory for loaded models (MB)", description="0: no limit."
        ),
    ] = 0
    folders: Annotated[tuple[str, ...], Field(title="Additional model folders")] = ()
    in_hub_cache: Annotated[
        bool,
        Field(
            title="Keep downloads in Hugging Face's cache",
            description="llama.cpp, vLLM and transformers find them there and use the same bytes.",
        ),
    ] = False
    files: Annotated[
        tuple[str, ...],
        Field(title="Models used in place", description="GGUF files, not copied."),
    ] = ()
    backends: Annotated[
        str,
        Field(
            title="Folder with support for graphics cards",
            description="Backends made for this engine. Empty: 'backends' beside the models.",
        ),
    ] = ""
    own: Annotated[
        tuple[OwnSettings, ...],
        AfterValidator(_once_each),
        Field(
            title="Settings of single models",
            description="The details of a model on the Models page change them.",
        ),
    ] = ()

    def own_of(self, name: str) -> OwnSettings:
        none = OwnSettings.model_construct(name=name)
        return next((own for own in self.own if own.name == name), none)

    def for_model(self, name: str) -> "ModelSettings":
        """These settings, with what the model has of its own in their place."""
        own = self.own_of(name).values
        shared = {field: value for field, value in own.items() if field in type(self).model_fields}
        return self.model_copy(update=shared) if shared else self


ENGINE_FORM = "An engine is written as http://host:port/v1, without a name or password in it."


def checked_engine_url(text: str) -> str:
    """With its scheme, which people leave out, and with the /v1 that clients are given."""
    address = text.strip()
    address = (address if "://" in address else f"http://{address}").rstrip("/")
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        raise PydanticCustomError("engine", ENGINE_FORM) from None
    is_plain = parts.username is None and not parts.query and not parts.fragment
    has_host = parts.scheme in DEFAULT_PORTS and bool(parts.hostname) and port != 0
    if not (is_plain and has_host) or not address.isprintable() or " " in address:
        raise PydanticCustomError("engine", ENGINE_FORM)
    return address if parts.path else f"{address}/v1"


class EngineElsewhere(Group):
    """A model that a server runs: vLLM, SGLang, llama-server, or another with OpenAI's API.

    Its key is in the keyring, as `engine-` and its name.
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
    model: Annotated[
        str,
        Field(title="Model on the server", description="Empty: the first that the server lists."),
    ] = ""
    context_tokens: Annotated[
        int,
        Field(ge=0, le=16_777_216, title="Context (tokens)", description="0: what it says."),
    ] = 0
    billions: Annotated[
        float,
        Field(
            ge=0,
            le=100_000,
            title="Parameters (billions)",
            description="0: what it says. A model of unknown size counts as able.",
        ),
    ] = 0.0
    images: Annotated[
        Literal["ask", "yes", "no"],
        Field(title="Reads images", description="'ask': what it says."),
    ] = "ask"
    tools: Annotated[
        Literal["server", "moat"],
        Field(
            title="Tool calls are parsed by",
            description="'moat' where the server has no tool parser for the model.",
        ),
    ] = "server"

    @model_validator(mode="before")
    @classmethod
    def _read_text(cls, given: Any) -> Any:
        """Settings may hold it as a text, too."""
        return _fields_of(given) if isinstance(given, str) else given

    def __str__(self) -> str:
        model = f"#{self.model}" if self.model else ""
        return f"{self.name}={','.join(self.urls)}{model}"

    @property
    def hosts(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(urlsplit(url).netloc for url in self.urls))

    @classmethod
    def of(cls, text: str) -> "EngineElsewhere":
        """From [NAME=]URL[,URL…][#MODEL]. Without a name it is called after the model or host."""
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
    elsewhere: Annotated[
        tuple[EngineElsewhere, ...],
        Field(
            title="Remote engines",
            description="name=http://host:port/v1 for each. The Models page adds and tests them.",
        ),
    ] = ()


class CopilotSettings(Group):
    answer_tokens: Annotated[
        int,
        Field(ge=16, le=1_048_576, title="Maximum answer length for pages (tokens)"),
    ] = 2048
    remote_agents: Annotated[
        tuple[str, ...],
        Field(
            title="Remote agents",
            description="'copilotkit URL' for a CopilotKit endpoint, 'langgraph URL' for a server.",
        ),
    ] = ()
    keep_threads: Annotated[
        bool,
        Field(
            title="Save conversations with pages",
            description="Off: conversations are deleted when Moat quits, those saved before too.",
        ),
    ] = False


class PluginSettings(Group):
    serve_clients: Annotated[
        bool,
        Field(
            title="Let connected programs use plugins",
            description="Calls that change something still wait for your permission here.",
        ),
    ] = False
    paused: Annotated[
        bool,
        Field(
            title="Pause plugins",
            description="No plugin is used while paused. Which ones are enabled does not change.",
        ),
    ] = False
    choose: Annotated[
        Literal["automatic", "named"],
        Field(
            title="When a plugin answers",
            description="Only when named: the question begins with @plugin.",
        ),
    ] = "automatic"


class WindowSettings(Group):
    theme: Annotated[Literal["system", "light", "dark"], Field(title="Theme")] = "system"
    language: Annotated[Literal["system", "en", "zh", "de"], Field(title="Language")] = "system"
    close_to_tray: Annotated[
        bool, Field(title="Keep running in the tray when the window is closed")
    ] = True


class NetworkSettings(Group):
    offline: Annotated[
        bool, Field(title="Offline", description="Block every outgoing connection.")
    ] = False
    proxy: Annotated[
        str, AfterValidator(proxy_address), Field(title="Proxy", description="http://host:port")
    ] = ""
    extra_ca: Annotated[str, Field(title="Extra certificate authority (PEM file)")] = ""
    own_domains: Annotated[
        tuple[str, ...],
        Field(
            title="Domains of your own network",
            description="Names in these domains may resolve to private addresses; all others "
            "are blocked.",
        ),
    ] = ()
    file_hosts: Annotated[
        tuple[Annotated[str, AfterValidator(checked_file_host)], ...],
        Field(
            title="Hosts files may be downloaded from",
            description="For files that a dashboard sends as links, for example "
            "https://files.example.com. Links to other hosts are not opened.",
        ),
    ] = ()
    hub: Annotated[
        str,
        Field(
            title="Model hub",
            description="A mirror of Hugging Face. Empty: HF_ENDPOINT, else huggingface.co.",
        ),
    ] = ""
    hub_storage: Annotated[
        tuple[str, ...],
        Field(
            title="Storage hosts of the hub",
            description="Other domains a mirror may redirect downloads to.",
        ),
    ] = ()
    download_limit_mb_s: Annotated[
        int, Field(ge=0, le=100_000, title="Download limit (MB/s)", description="0: none.")
    ] = 0


class UpdateSettings(Group):
    look: Annotated[
        bool,
        Field(
            title="Check for updates once a day",
            description="Moat only tells you. Nothing is downloaded or installed automatically.",
        ),
    ] = False
    address: Annotated[
        str,
        Field(title="Update feed", description="Empty: the address built into this package."),
    ] = ""
    key: Annotated[
        str,
        Field(
            title="Update signing key",
            description="Ed25519 public key in base64. Updates without its signature are ignored.",
        ),
    ] = ""
    files: Annotated[
        str,
        Field(
            title="Address of release files",
            description="Support for graphics cards is fetched from here, when you ask for it. "
            "Empty: the folder of the update feed.",
        ),
    ] = ""


class PrivacySettings(Group):
    log_prompts: Annotated[
        bool,
        Field(title="Write prompts to the log", description="Turn on only to find a problem."),
    ] = False


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
        """A copy with one field changed and checked; `field` is a dotted name like server.port."""
        group_name, _, name = field.partition(".")
        group = getattr(self, group_name, None)
        if not isinstance(group, Group) or name not in type(group).model_fields:
            raise KeyError(field)
        checked = type(group).model_validate({**group.model_dump(), name: value})
        return self.model_copy(update={group_name: checked})
