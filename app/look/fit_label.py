"""Whether a model runs here, in two words and a reason."""

from PySide6.QtWidgets import QWidget

from app.look.controls import Label, restyle, stack
from app.look.sentences import told
from app.look.translate import tr
from server.face.models import Fit, Verdict

_ROLES: dict[Verdict, str] = {
    "runs well": "good",
    "tight": "warn",
    "does not fit": "bad",
    "unknown": "small",
}


class FitLabel(QWidget):
    def __init__(self, fit: Fit | None = None) -> None:
        super().__init__()
        self.verdict = Label("", "small")
        self.why = Label("", "small", wrap=True)
        self.setLayout(stack(self.verdict, self.why, spacing=0))
        self.show_fit(fit or Fit("unknown", ""))

    def show_fit(self, fit: Fit) -> None:
        self.verdict.setText(verdict_words(fit.verdict))
        self.verdict.setProperty("role", _ROLES[fit.verdict])
        restyle(self.verdict)
        why = told(fit.why)
        self.why.tell(why)
        self.setAccessibleName(f"{self.verdict.text()}. {why}")


def verdict_words(verdict: Verdict) -> str:
    return {
        "runs well": tr("Runs well"),
        "tight": tr("Tight"),
        "does not fit": tr("Does not fit"),
        "unknown": tr("Not known yet"),
    }[verdict]


def parameters(count: int) -> str:
    if not count:
        return ""
    billions = count / 1e9
    return f"{billions:.0f}B" if billions >= 10 else f"{billions:.1f}B" if billions >= 1 else (
        f"{count / 1e6:.0f}M"
    )  # fmt: skip


def facts(*parts: str) -> str:
    return "  ·  ".join(part for part in parts if part)
