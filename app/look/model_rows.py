"""Parts of lists of models: whether a model runs here and why, and the progress of a download."""

from pathlib import Path

from PySide6.QtWidgets import QProgressBar, QWidget

from app.look import theme
from app.look.controls import Button, Label, Remark, name_label, row, stack
from app.look.page import Page
from app.look.summary import size
from app.look.translate import numeral, told, tr
from server.errors import AppError
from server.face.core import Face, ModelStatus
from server.face.models import Download, Fit, GraphicsFace, ModelsFace, Suggestion, Verdict

_ROLES: dict[Verdict, str] = {
    "runs well": "good",
    "tight": "warn",
    "does not fit": "bad",
    "unknown": "small",
}


class FitLabel(QWidget):
    """A label that says whether a model runs here, why, and how fast."""

    def __init__(self, fit: Fit | None = None) -> None:
        super().__init__()
        self.verdict = Label("", "small")
        self.why = Remark()
        self.speed = Label("", "small", wrap=True)
        self.setLayout(stack(self.verdict, self.why, self.speed, spacing=0))
        self.show_fit(fit or Fit("unknown", ""))

    def show_fit(self, fit: Fit) -> None:
        self.verdict.setText(verdict_words(fit.verdict))
        self.verdict.set_role(_ROLES[fit.verdict])
        why = told(fit.why)
        self.why.tell(why)
        speed = speed_words(fit)
        self.speed.tell(speed)
        self.setAccessibleName(f"{self.verdict.text()}. {why} {speed}".strip())

    def show_problem(self, error: AppError) -> None:
        """Shows why it is not known whether the model fits."""
        self.show_fit(Fit("unknown", ""))
        self.why.fail(error)
        self.setAccessibleName(f"{self.verdict.text()}. {self.why.text()}")


def speed_words(fit: Fit) -> str:
    """Returns the model's speed; empty if it is not known."""
    if not fit.writes:
        return ""
    words = tr("Speed when last used: writes {writes} and reads {reads} tokens per second.")
    if not fit.is_measured:
        words = tr("Estimated speed: writes {writes} and reads {reads} tokens per second.")
    return words.format(writes=pace(fit.writes), reads=pace(fit.reads))


def pace(per_s: float) -> str:
    """Formats a speed, with one decimal below 10."""
    return numeral(per_s, ",.0f") if per_s >= 10 else numeral(per_s, ".1f")


def verdict_words(verdict: Verdict) -> str:
    return {
        "runs well": tr("Runs well"),
        "tight": tr("Tight"),
        "does not fit": tr("Does not fit"),
        "unknown": tr("Not known yet"),
    }[verdict]


def download_size(one: Suggestion) -> str:
    """Returns the size of the whole download; "about" if it was estimated."""
    amount = size(one.size_bytes)
    return tr("about {size}").format(size=amount) if one.is_about else amount


def parameters(count: int) -> str:
    if not count:
        return ""
    billions = count / 1e9
    if billions >= 1:
        return f"{numeral(billions, '.0f' if billions >= 10 else '.1f')}B"
    return f"{numeral(count / 1e6, '.0f')}M"


def facts(*parts: str) -> str:
    return "  ·  ".join(part for part in parts if part)


class DownloadRow(QWidget):
    def __init__(self, download: Download, page: Page, room: ModelsFace | GraphicsFace) -> None:
        """`room` is the part of the core that the download belongs to."""
        super().__init__()
        number = self.number = download.id
        self.name = name_label(download.name)
        self.state = Remark()
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setRange(0, 1000)
        name = download.name
        self.pause = Button("", "pause", "icon", name=tr("Pause {name}").format(name=name))
        self.resume = Button("", "play", "icon", name=tr("Resume {name}").format(name=name))
        self.retry = Button(tr("Try again"), "reset", name=tr("Try {name} again").format(name=name))
        self.cancel = Button("", "close", "icon", name=tr("Cancel {name}").format(name=name))
        self.pause.clicked.connect(lambda: page.run(room.pause_download(number)))
        for button in (self.resume, self.retry):
            button.clicked.connect(lambda: page.run(room.resume_download(number)))
        self.cancel.clicked.connect(lambda: page.run(room.cancel_download(number)))
        words = stack(self.name, self.state, spacing=2)
        line = row(words, self.pause, self.resume, self.retry, self.cancel, grows=words)
        self.setLayout(stack(line, self.progress, spacing=theme.SMALL))

    def show_download(self, download: Download) -> None:
        done = download.done_bytes / download.total_bytes if download.total_bytes else 0.0
        self.progress.setValue(round(done * 1000))
        self.progress.setAccessibleName(
            tr("{name}: {percent} downloaded").format(
                name=download.name, percent=numeral(done, ".0%")
            )
        )
        self.progress.setVisible(download.phase not in ("done", "failed"))
        role = {"failed": "bad", "done": "good"}.get(download.phase, "small")
        self.state.tell(state_words(download), role, download.details)
        self.pause.setVisible(download.phase in ("running", "waiting"))
        self.resume.setVisible(download.phase == "paused")
        self.retry.setVisible(download.phase == "failed")
        name = (
            tr("Remove {name} from this list") if download.phase == "done" else tr("Cancel {name}")
        )
        self.cancel.set_icon("close", name.format(name=download.name))


def state_words(download: Download) -> str:
    amount = tr("{done} of {total}").format(
        done=size(download.done_bytes), total=size(download.total_bytes)
    )
    reason = told(download.reason)
    match download.phase:
        case "running":
            per_s = numeral(download.bytes_per_s / 1e6, ".1f")
            speed = f"{per_s} MB/s" if download.bytes_per_s else ""
            return facts(amount, speed, time_left(download.left_s), reason)
        case "waiting":
            return facts(tr("Waiting"), reason)
        case "paused":
            return facts(tr("Paused"), amount)
        case "verifying":
            return tr("Verifying the checksum")
        case "done":
            return facts(tr("Finished and verified"), size(download.total_bytes))
        case "failed":
            return reason or tr("It failed.")


def time_left(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < 60:
        return tr("less than a minute left")
    minutes = round(seconds / 60)
    if minutes < 60:
        return tr("{minutes} min left").format(minutes=minutes)
    return tr("{hours} h {minutes} min left").format(hours=minutes // 60, minutes=minutes % 60)


async def add_model_folder(core: Face, path: str) -> None:
    """Adds a folder to those that are searched for models, unless it is one of them already."""
    folders = core.settings.get().model.folders
    if Path(path) not in map(Path, folders):
        await core.change_setting("model.folders", (*folders, path))


def show_use(button: Button, name: str, model: ModelStatus) -> None:
    """Shows on the button whether the model is in use, is being loaded, or can be loaded."""
    phase = model.phase if name == model.name else ""
    words, spoken = {
        "ready": (tr("In use"), tr("In use: {name}")),
        "loading": (tr("Loading"), tr("Loading {name}")),
    }.get(phase, (tr("Load"), tr("Load {name}")))
    button.setText(words)
    button.setAccessibleName(spoken.format(name=name))
    button.setEnabled(phase not in ("ready", "loading"))
