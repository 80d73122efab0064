"""The look: two sets of colours, a quiet style sheet, and the choice between the sets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Literal

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from assaypilot.engine.figures.palette import DARK as FIGURE_DARK
from assaypilot.engine.figures.palette import LIGHT as FIGURE_LIGHT
from assaypilot.engine.figures.palette import Palette

from ..runtime.gc_policy import nothing_goes

RESOURCES = Path(__file__).parent
Choice = Literal["system", "light", "dark"]


@dataclass(frozen=True, slots=True)
class Colours:
    """The colours of one theme, as ``#rrggbb``."""

    dark: bool
    page: str
    """Tables and plots."""
    panel: str
    """Strip, navigation, side panel."""
    line: str
    text: str
    muted: str
    accent: str
    on_accent: str
    soft_accent: str
    """A selected row, the page that is shown."""
    hover: str
    question: str
    """Background of parts that need attention."""
    question_edge: str
    caution: str
    """Text that says what is no longer guaranteed."""
    error: str
    error_ground: str
    figure: Palette

    def status(self, code: int) -> QColor:
        """Return the colour of a compound's status, by code."""
        return QColor(self.figure.status[code])


LIGHT = Colours(
    dark=False,
    page="#ffffff",
    panel="#f7f9fb",
    line="#dfe4ea",
    text="#1c2430",
    muted="#5b6675",
    accent="#1f5fbf",
    on_accent="#ffffff",
    soft_accent="#e4edfb",
    hover="#f0f4f9",
    question="#fff6e5",
    question_edge="#c27a08",
    caution="#985600",
    error="#b3261e",
    error_ground="#fdecea",
    figure=FIGURE_LIGHT,
)
DARK = Colours(
    dark=True,
    page="#171b21",
    panel="#1d2229",
    line="#323a45",
    text="#e6eaf0",
    muted="#9aa5b4",
    accent="#6aa5ff",
    on_accent="#0c1a2e",
    soft_accent="#24344d",
    hover="#232a33",
    question="#332a17",
    question_edge="#f0a83c",
    caution="#f0a83c",
    error="#ff8a80",
    error_ground="#3b2220",
    figure=FIGURE_DARK,
)


class Theme(QObject):
    """Which colours are shown; follows the system unless one was chosen."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.choice: Choice = "system"
        self.colours = LIGHT
        self.scale = 1.0
        """How much larger than the system's the text is."""
        self._points = 0.0

    def attach(self, application: QApplication, choice: Choice, percent: int = 100) -> None:
        """Dress the application, and again whenever the system changes its scheme."""
        application.setStyle("Fusion")
        if not self._points:
            self._points = application.font().pointSizeF() if application.font().pointSizeF() > 0 else 9.0
            application.styleHints().colorSchemeChanged.connect(self._follow)
        self.choice = choice
        self.enlarge(percent)

    def enlarge(self, percent: int) -> None:
        """Text has this share of the size the system gives it, everywhere and at once."""
        self.scale = percent / 100
        application = QApplication.instance()
        if isinstance(application, QApplication) and application.font().pointSizeF() != self._points * self.scale:
            font = QFont(application.font())
            font.setPointSizeF(self._points * self.scale)
            with nothing_goes():
                # A style sheet fixes the fonts of its labels: without it the new font reaches everything.
                application.setStyleSheet("")
                application.setFont(font)
        self._follow()

    def choose(self, choice: Choice) -> None:
        """Show the colours of a choice."""
        self.choice = choice
        self._follow()

    def _follow(self) -> None:
        application = QApplication.instance()
        if not isinstance(application, QApplication):
            return
        system_dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
        dark = self.choice == "dark" or (self.choice == "system" and system_dark)
        self.colours = DARK if dark else LIGHT
        palette, sheet = qt_palette(self.colours), style_sheet(self.colours, application.font())
        # A new sheet is worked into every widget there is.
        if palette != application.palette() or sheet != application.styleSheet():
            with nothing_goes():
                application.setPalette(palette)
                application.setStyleSheet(sheet)
        self.changed.emit()


@contextmanager
def undressed() -> Iterator[None]:
    """Build a window in a fifth of the time: Qt applies a style sheet again wherever a widget is put."""
    application = QApplication.instance()
    if not isinstance(application, QApplication) or any(one.isVisible() for one in application.topLevelWidgets()):
        yield
        return
    sheet = application.styleSheet()
    with nothing_goes():
        application.setStyleSheet("")
    try:
        yield
    finally:
        with nothing_goes():
            application.setStyleSheet(sheet)


def qt_palette(colours: Colours) -> QPalette:
    """Return the colours as Qt's own widgets use them."""
    palette = QPalette()
    roles = QPalette.ColorRole
    for role, colour in (
        (roles.Window, colours.page),
        (roles.WindowText, colours.text),
        (roles.Base, colours.page),
        (roles.AlternateBase, colours.panel),
        (roles.Text, colours.text),
        (roles.PlaceholderText, colours.muted),
        (roles.Button, colours.panel),
        (roles.ButtonText, colours.text),
        (roles.ToolTipBase, colours.page),
        (roles.ToolTipText, colours.text),
        (roles.Highlight, colours.soft_accent),
        (roles.HighlightedText, colours.text),
        (roles.Link, colours.accent),
        (roles.Mid, colours.line),
        (roles.Midlight, colours.line),
        (roles.Dark, colours.line),
        (roles.Light, colours.page),
        (roles.Accent, colours.accent),
    ):
        palette.setColor(role, QColor(colour))
    for role in (roles.WindowText, roles.Text, roles.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, role, QColor(blend(colours.muted, colours.page, 0.6)))
    return palette


class _Sheet(Template):
    delimiter = "@"


def style_sheet(colours: Colours, font: QFont) -> str:
    """Return the style sheet in these colours, sizes from the system's font."""
    size = font.pointSizeF() if font.pointSizeF() > 0 else 9.0
    tone = "dark" if colours.dark else "light"
    values = {name: getattr(colours, name) for name in Colours.__slots__ if name not in ("dark", "figure")}
    return _Sheet((RESOURCES / "style.qss").read_text(encoding="utf-8")).substitute(
        **values,
        title=f"{size * 1.15:.1f}",
        big=f"{size * 1.5:.1f}",
        disabled=blend(colours.muted, colours.page, 0.6),
        accent_hover=blend(colours.accent, colours.text, 0.85),
        chevron=(RESOURCES / f"chevron-{tone}.svg").as_posix(),
        check=(RESOURCES / f"check-{tone}.svg").as_posix(),
        rule=blend(colours.line, colours.page, 0.55),
        handle=blend(colours.muted, colours.page, 0.45),
    )


def blend(front: str, back: str, share: float) -> str:
    """Return the colour between two, ``share`` of it the front one."""
    a, b = QColor(front), QColor(back)
    pairs = ((a.red(), b.red()), (a.green(), b.green()), (a.blue(), b.blue()))
    mixed = [round(share * x + (1 - share) * y) for x, y in pairs]
    return QColor(*mixed).name()


def tabular(font: QFont) -> QFont:
    """Return the font with figures of one width, so that digits align."""
    font = QFont(font)
    font.setFeature(QFont.Tag("tnum"), 1)
    return font


_theme: Theme | None = None


def theme() -> Theme:
    """Return the one theme of the program; made when first asked for."""
    global _theme
    if _theme is None:
        _theme = Theme()
    return _theme
