"""Every colour, size and font of the window, and the palette and style sheet made from them."""

import string
from dataclasses import asdict, dataclass
from pathlib import Path

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontInfo, QPalette
from PySide6.QtWidgets import QApplication

from app.look.summary import Look

RESOURCES = Path(__file__).resolve().parents[2] / "resources"

TINY, SMALL, MEDIUM, LARGE, HUGE = 4, 8, 12, 20, 32
PAGE_MARGIN = 28
READING_WIDTH = 820
SIDEBAR_WIDTH = 204
LEAST_SEARCH = 110
ICON = 18
LOG_TEXT_PX = 13
CONTROL_HEIGHT = 36
BIG_CONTROL_HEIGHT = 44
WINDOW_SIZE = (1080, 720)
DIALOG_SIZE = (760, 520)
SMALLEST_WINDOW = (720, 520)
BRAND_SIDE = 26
LOOK_SIDE = 22
SEARCH_WIDTH = 240
PANEL_WIDTH = 264
LEAST_PANEL, MOST_PANEL = 200, 420
WIDE_PANEL = 300
FIELD_WIDTH = 260
LINES_HEIGHT = 84
ALL_TEXT_HEIGHT = 420
BUBBLE_WIDTH = 560
LEAST_READING = 480
LEAST_BESIDE = 560
"""The width from which a setting's field stands beside its words."""
SURE_WIDTH = 280
"""The widest that a bubble may insist on, in the smallest window."""
HERO_SIDE = 52
INVITATION_WIDTH = 460
ROW_PADDING = 5
CODE_PADDING = 12
CODE_RADIUS = 8
PARAGRAPH_GAP = 10
CHART_HEIGHT = 320
CHART_STROKE = 2.0
CHART_DOT = 3.5

LOOK_CHANGES = (QEvent.Type.PaletteChange, QEvent.Type.StyleChange)
"""The events after which custom painting must be repeated."""

_SMALLEST_TEXT_PX = 14
_DATED_FONTS = frozenset({"Sans Serif", "Sans", "DejaVu Sans", "Bitstream Vera Sans"})
"""Fonts that are replaced by Inter."""


# The tray's background may be light or dark: these colours are legible on both.
LOOK_COLOURS: dict[Look, str] = {
    "stopped": "#7d8894",
    "loading": "#c98a1b",
    "ready": "#1f9ac0",
    "busy": "#2fa866",
    "failed": "#e0483e",
}


@dataclass(frozen=True, slots=True)
class Colours:
    """The colours of a theme. The defaults are those of the light theme."""

    window: str = "#f7f8fa"
    sidebar: str = "#eef1f4"
    surface: str = "#ffffff"
    raised: str = "#f3f5f7"
    border: str = "#e1e5ea"
    strong_border: str = "#c9d0d8"
    text: str = "#1a2027"
    muted: str = "#56616d"
    accent: str = "#0b6683"
    accent_hover: str = "#09566f"
    on_accent: str = "#ffffff"
    accent_soft: str = "#e0f0f5"
    good: str = "#18703f"
    good_soft: str = "#e3f4ea"
    warn: str = "#865000"
    warn_soft: str = "#fdf2dc"
    bad: str = "#b3261e"
    bad_hover: str = "#99201a"
    bad_soft: str = "#fcebe9"
    on_bad: str = "#ffffff"
    code: str = "#f2f4f7"
    code_word: str = "#7a3e9d"
    code_text: str = "#18703f"
    code_number: str = "#9a4a00"
    code_name: str = "#0b5cad"
    code_comment: str = "#5c6773"
    series_1: str = "#0b6683"
    series_2: str = "#b3501e"
    series_3: str = "#5b4fa8"
    series_4: str = "#2f7a3d"
    series_5: str = "#a3367d"
    series_6: str = "#756500"
    series_7: str = "#2f66c4"
    series_8: str = "#5f6770"

    @property
    def series(self) -> tuple[str, ...]:
        """The colours of a chart's lines, bars and slices, in order."""
        return tuple(getattr(self, f"series_{number}") for number in range(1, 9))


LIGHT = Colours()
DARK = Colours(
    window="#14181c",
    sidebar="#0f1215",
    surface="#1b2025",
    raised="#242a31",
    border="#2a3138",
    strong_border="#414b55",
    text="#e8ecf0",
    muted="#9da9b5",
    accent="#5cbbd9",
    accent_hover="#7bcbe4",
    on_accent="#04212b",
    accent_soft="#16323d",
    good="#62c98f",
    good_soft="#16301f",
    warn="#e2ab52",
    warn_soft="#33270f",
    bad="#ff8f85",
    bad_hover="#ffa59d",
    bad_soft="#3a1f1d",
    on_bad="#2e0805",
    code="#1e242a",
    code_word="#d3a6f5",
    code_text="#8fd6a8",
    code_number="#f0b27a",
    code_name="#8cc3ff",
    code_comment="#98a4b0",
    series_1="#5cbbd9",
    series_2="#f0a06a",
    series_3="#b3a5f5",
    series_4="#7fcf90",
    series_5="#f08cc8",
    series_6="#d8c25a",
    series_7="#8ab4f8",
    series_8="#b4bcc6",
)


@dataclass(frozen=True, slots=True)
class Sizes:
    """Text sizes in pixels. All follow from the size that the user's desktop asks for."""

    text: int

    @property
    def small(self) -> int:
        return round(self.text * 0.875)

    @property
    def large(self) -> int:
        return round(self.text * 1.2)

    @property
    def title(self) -> int:
        return round(self.text * 1.65)


def colours_of(palette: QPalette) -> Colours:
    """Returns the theme's colours for a palette of ours, for custom painting."""
    return DARK if palette.color(QPalette.ColorRole.Window).lightness() < 128 else LIGHT


def is_dark(wanted: str, system: Qt.ColorScheme) -> bool:
    if wanted == "system":
        return system == Qt.ColorScheme.Dark
    return wanted == "dark"


def sizes_of(font: QFont) -> Sizes:
    return Sizes(max(_SMALLEST_TEXT_PX, QFontInfo(font).pixelSize()))


def mono() -> QFont:
    return QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)


def prepare(app: QApplication) -> None:
    """Sets the style and a readable font. Must be called once, before the first widget."""
    app.setStyle("Fusion")
    font = app.font()
    if font.family() in _DATED_FONTS:
        for file in sorted((RESOURCES / "fonts").glob("*.otf")):
            QFontDatabase.addApplicationFont(str(file))
        font.setFamilies(["Inter", font.family()])
    font.setPixelSize(sizes_of(font).text)
    app.setFont(font)


def apply(app: QApplication, wanted: str) -> None:
    colours = DARK if is_dark(wanted, app.styleHints().colorScheme()) else LIGHT
    app.setPalette(palette(colours))
    app.setStyleSheet(style_sheet(colours, sizes_of(app.font())))


def palette(colours: Colours) -> QPalette:
    roles = QPalette.ColorRole
    made = QPalette()
    for role, colour in (
        (roles.Window, colours.window),
        (roles.WindowText, colours.text),
        (roles.Base, colours.surface),
        (roles.AlternateBase, colours.raised),
        (roles.Text, colours.text),
        (roles.Button, colours.surface),
        (roles.ButtonText, colours.text),
        (roles.PlaceholderText, colours.muted),
        (roles.Highlight, colours.accent),
        (roles.HighlightedText, colours.on_accent),
        (roles.Link, colours.accent),
        (roles.LinkVisited, colours.accent),
        (roles.ToolTipBase, colours.raised),
        (roles.ToolTipText, colours.text),
        (roles.Accent, colours.accent),
        (roles.Mid, colours.border),
        (roles.Light, colours.raised),
        (roles.Dark, colours.strong_border),
    ):
        made.setColor(role, QColor(colour))
    for role in (roles.WindowText, roles.Text, roles.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, role, QColor(colours.muted))
    return made


def style_sheet(colours: Colours, sizes: Sizes) -> str:
    source = (RESOURCES / "window.qss").read_text(encoding="utf-8")
    words = {name: str(getattr(sizes, name)) for name in ("text", "small", "large", "title")}
    icons = (RESOURCES / "icons").as_posix()
    shade = "dark" if colours is DARK else "light"
    return string.Template(source).substitute(
        **asdict(colours), **{f"{name}_px": size for name, size in words.items()},
        control_px=CONTROL_HEIGHT, big_px=BIG_CONTROL_HEIGHT, icons=icons, shade=shade,
    )  # fmt: skip
