"""The look: two sets of colours, a quiet style sheet, and who decides which set is shown."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from assaypilot.engine.figures.palette import DARK as FIGURE_DARK
from assaypilot.engine.figures.palette import LIGHT as FIGURE_LIGHT
from assaypilot.engine.figures.palette import Palette

from ..runtime.gc_policy import nothing_goes

__all__ = ["DARK", "LIGHT", "Choice", "Colours", "Theme", "tabular", "theme"]

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
    """Ground of what asks to be looked at."""
    question_edge: str
    caution: str
    """Text that says what is no longer guaranteed."""
    error: str
    error_ground: str
    figure: Palette

    def status(self, code: int) -> QColor:
        """The colour of a compound's status, by code."""
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

STYLE = """
QToolTip {{ background: {page}; color: {text}; border: 1px solid {line}; padding: 4px 6px; }}
QMenuBar {{ background: {page}; border-bottom: 1px solid {line}; padding: 2px 8px; }}
QMenuBar::item {{ padding: 5px 10px; background: transparent; border-radius: 5px; }}
QMenuBar::item:selected {{ background: {soft_accent}; }}
QMenu {{ background: {page}; border: 1px solid {line}; padding: 4px; }}
QMenu::item {{ padding: 6px 26px 6px 14px; border-radius: 4px; }}
QMenu::item:selected {{ background: {soft_accent}; color: {text}; }}
QMenu::item:disabled {{ color: {muted}; }}
QMenu::separator {{ height: 1px; background: {line}; margin: 4px 8px; }}
#strip, #navigation, #footer, #side {{ background: {panel}; }}
#work {{ background: {soft_accent}; border-top: 1px solid {line}; }}
#work QLabel {{ background: transparent; }}
#strip {{ border-bottom: 1px solid {line}; }}
#navigation {{ border-right: 1px solid {line}; }}
#footer {{ border-top: 1px solid {line}; }}
#page {{ background: {page}; }}
QLabel[role="muted"] {{ color: {muted}; }}
QLabel[role="heading"] {{ font-weight: 600; }}
QLabel[role="title"] {{ font-weight: 600; font-size: {title}pt; }}
QLabel[role="big"] {{ font-weight: 600; font-size: {big}pt; }}
QLabel[role="problem"] {{ color: {error}; }}
QLabel[role="void"] {{ color: {caution}; font-weight: 600; }}
QPushButton {{ background: {page}; color: {text}; border: 1px solid {line}; border-radius: 6px; padding: 5px 12px; }}
QPushButton:hover {{ background: {hover}; }}
QPushButton:pressed {{ background: {soft_accent}; }}
QPushButton:focus {{ border: 2px solid {accent}; padding: 4px 11px; }}
QPushButton:disabled {{ color: {disabled}; background: {panel}; }}
QPushButton[role="primary"] {{ background: {accent}; color: {on_accent}; border: 1px solid {accent};
    font-weight: 600; padding: 8px 18px; }}
QPushButton[role="primary"]:hover {{ background: {accent_hover}; border-color: {accent_hover}; }}
QPushButton[role="primary"]:focus {{ border: 4px double {on_accent}; padding: 5px 15px; }}
QPushButton[role="primary"]:disabled {{ background: {line}; border-color: {line}; color: {muted}; }}
QPushButton[role="go"] {{ background: {accent}; color: {on_accent}; border: 1px solid {accent}; font-weight: 600; }}
QPushButton[role="go"]:hover {{ background: {accent_hover}; }}
QPushButton[role="go"]:focus {{ border: 4px double {on_accent}; padding: 2px 9px; }}
QPushButton[role="go"]:disabled {{ background: {line}; border-color: {line}; color: {muted}; }}
QPushButton[role="link"] {{ background: transparent; border: 1px solid transparent; color: {accent};
    padding: 2px 3px; }}
QPushButton[role="link"]:hover {{ text-decoration: underline; }}
QPushButton[role="link"]:focus {{ border: 1px solid {accent}; padding: 2px 3px; }}
QPushButton[role="badge"] {{ background: {page}; border: 1px solid {line}; border-radius: 12px; padding: 4px 11px;
    font-weight: 600; }}
QPushButton[role="badge"]:hover, QPushButton[role="badge"]:checked {{ background: {hover}; }}
QPushButton[role="badge"][kind="void"] {{ color: {caution}; }}
QPushButton[role="badge"]:focus {{ border: 2px solid {accent}; padding: 3px 10px; }}
QTableView#frozen {{ border: none; border-right: 1px solid {line}; border-radius: 0; }}
#statement {{ background: {panel}; border-bottom: 1px solid {line}; }}
QPushButton[role="page"] {{ background: transparent; border: none; border-radius: 6px; text-align: left;
    padding: 8px 10px; }}
QPushButton[role="page"]:hover {{ background: {hover}; }}
QPushButton[role="page"]:checked {{ background: {soft_accent}; color: {accent}; font-weight: 600; }}
QPushButton[role="page"]:focus {{ border: 2px solid {accent}; padding: 6px 8px; }}
QPushButton[role="page"]:disabled {{ background: transparent; color: {disabled}; }}
QPushButton[role="segment"] {{ border-radius: 0px; padding: 5px 12px; }}
QPushButton[role="segment"][place="first"] {{ border-top-left-radius: 6px; border-bottom-left-radius: 6px; }}
QPushButton[role="segment"][place="last"] {{ border-top-right-radius: 6px; border-bottom-right-radius: 6px; }}
QPushButton[role="segment"]:checked {{ background: {soft_accent}; color: {accent}; border-color: {accent}; }}
QPushButton[role="segment"]:focus {{ border: 2px solid {accent}; padding: 4px 11px; }}
QLineEdit, QPlainTextEdit, QComboBox, QSpinBox, QDoubleSpinBox {{ background: {page}; color: {text};
    border: 1px solid {line}; border-radius: 6px; padding: 5px 8px; selection-background-color: {accent};
    selection-color: {on_accent}; }}
QLineEdit, QPlainTextEdit {{ placeholder-text-color: {muted}; }}
QLineEdit:disabled, QPlainTextEdit:disabled {{ placeholder-text-color: {disabled}; }}
QLineEdit:focus, QPlainTextEdit:focus, QComboBox:focus, QSpinBox:focus, QDoubleSpinBox:focus {{
    border: 1px solid {accent}; }}
QLineEdit[wrong="true"], QComboBox[wrong="true"] {{ border: 1px solid {error}; }}
QLineEdit:disabled, QComboBox:disabled, QPlainTextEdit:disabled {{ color: {disabled}; background: {panel}; }}
QComboBox::drop-down {{ border: none; width: 24px; }}
QComboBox::down-arrow {{ image: url("{chevron}"); width: 12px; height: 12px; }}
QComboBox QAbstractItemView {{ background: {page}; border: 1px solid {line}; selection-background-color: {soft_accent};
    selection-color: {text}; outline: none; }}
QListView {{ background: {page}; border: 1px solid {line}; border-radius: 6px; padding: 4px; outline: none; }}
QListView:focus {{ border: 1px solid {accent}; }}
QListView::item {{ padding: 3px 4px; }}
QListView::item:selected {{ background: {soft_accent}; color: {text}; }}
QListView::item:disabled {{ color: {muted}; }}
QTableView {{ background: {page}; alternate-background-color: {page}; border: 1px solid {line}; border-radius: 6px;
    gridline-color: {line}; selection-background-color: {soft_accent}; selection-color: {text}; outline: none; }}
QTableView:focus {{ border: 1px solid {accent}; }}
QTableView::item {{ padding: 0px 5px; border: none; border-bottom: 1px solid {rule}; }}
QTableView::item:selected {{ background: {soft_accent}; color: {text}; }}
QTableView QLineEdit {{ border: 2px solid {accent}; border-radius: 3px; padding: 1px 5px; }}
QHeaderView {{ background: {page}; border: none; }}
QHeaderView::section {{ background: {page}; color: {muted}; border: none; border-bottom: 1px solid {line};
    padding: 6px 7px; }}
QHeaderView::section:hover {{ background: {hover}; }}
QTableCornerButton::section {{ background: {page}; border: none; }}
QScrollArea {{ border: none; background: transparent; }}
QScrollBar:vertical {{ background: transparent; width: 11px; margin: 0px; }}
QScrollBar:horizontal {{ background: transparent; height: 11px; margin: 0px; }}
QScrollBar::handle {{ background: {handle}; border-radius: 4px; margin: 2px; }}
QScrollBar::handle:vertical {{ min-height: 28px; }}
QScrollBar::handle:horizontal {{ min-width: 28px; }}
QScrollBar::handle:hover {{ background: {muted}; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0px; height: 0px; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
QSplitter::handle {{ background: {line}; }}
QProgressBar {{ background: {line}; border: none; border-radius: 3px; max-height: 6px; }}
QProgressBar::chunk {{ background: {accent}; border-radius: 3px; }}
QCheckBox, QRadioButton {{ spacing: 8px; border: 1px solid transparent; border-radius: 5px; padding: 2px 4px 2px 2px; }}
QCheckBox:focus, QRadioButton:focus {{ border-color: {accent}; }}
QCheckBox::indicator, QListView::indicator {{ width: 14px; height: 14px; border: 1px solid {muted}; border-radius: 3px;
    background: {page}; }}
QCheckBox::indicator:checked, QListView::indicator:checked {{ background: {accent}; border-color: {accent};
    image: url("{check}"); }}
QRadioButton::indicator {{ width: 14px; height: 14px; border: 1px solid {muted}; border-radius: 8px;
    background: {page}; }}
QRadioButton::indicator:checked {{ width: 6px; height: 6px; border: 5px solid {accent}; background: {on_accent}; }}
QRadioButton::indicator:focus, QCheckBox::indicator:focus {{ border-color: {accent}; }}
#callout {{ background: {question}; border: none; border-left: 3px solid {question_edge}; }}
#callout[kind="calm"] {{ background: {page}; border-left: 3px solid {line}; }}
#callout QLabel {{ background: transparent; }}
#callout QPushButton {{ padding: 4px 8px; }}
#callout QPushButton:focus {{ padding: 3px 7px; }}
#callout QPushButton[role="go"]:focus {{ padding: 1px 5px; }}
#callout QPushButton[role="link"], #callout QPushButton[role="link"]:focus {{ padding: 3px 7px; }}
#replay {{ background: {panel}; border: 1px solid {line}; border-radius: 6px; }}
#replay[past="true"] {{ background: {question}; border-color: {question_edge}; }}
#replay QLabel {{ background: transparent; }}
#replay QPushButton {{ padding: 3px 10px; }}
#replay QPushButton:focus {{ padding: 2px 9px; }}
#messages[kind="error"] {{ background: {error_ground}; border-bottom: 1px solid {error}; }}
#messages[kind="note"] {{ background: {soft_accent}; border-bottom: 1px solid {line}; }}
#messages[kind="question"] {{ background: {question}; border-bottom: 1px solid {question_edge}; }}
#messages QLabel {{ background: transparent; }}
#card {{ background: {page}; border: 1px solid {line}; border-radius: 8px; }}
#tour {{ background: {soft_accent}; border-bottom: 1px solid {accent}; }}
#tour QLabel {{ background: transparent; }}
QPushButton[toured="true"], QPushButton[toured="true"]:focus, QPushButton[toured="true"]:hover {{
    border: 3px solid {question_edge}; padding: 3px 10px; }}
QPushButton[role="primary"][toured="true"], QPushButton[role="primary"][toured="true"]:focus {{
    border: 3px solid {question_edge}; padding: 6px 16px; }}
QPushButton[role="page"][toured="true"], QPushButton[role="page"][toured="true"]:focus {{
    border: 3px solid {question_edge}; padding: 5px 7px; }}
QDialog {{ background: {page}; }}
"""


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
                # A style sheet holds the fonts of its labels: without it the new one reaches everything.
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


def qt_palette(colours: Colours) -> QPalette:
    """The colours as Qt's own widgets use them."""
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
        palette.setColor(QPalette.ColorGroup.Disabled, role, QColor(_blend(colours.muted, colours.page, 0.6)))
    return palette


def style_sheet(colours: Colours, font: QFont) -> str:
    """The style sheet in these colours, sizes from the system's font."""
    size = font.pointSizeF() if font.pointSizeF() > 0 else 9.0
    tone = "dark" if colours.dark else "light"
    values = {name: getattr(colours, name) for name in Colours.__slots__ if name not in ("dark", "figure")}
    return STYLE.format(
        **values,
        title=f"{size * 1.15:.1f}",
        big=f"{size * 1.5:.1f}",
        disabled=_blend(colours.muted, colours.page, 0.6),
        accent_hover=_blend(colours.accent, colours.text, 0.85),
        chevron=(RESOURCES / f"chevron-{tone}.svg").as_posix(),
        check=(RESOURCES / f"check-{tone}.svg").as_posix(),
        rule=_blend(colours.line, colours.page, 0.55),
        handle=_blend(colours.muted, colours.page, 0.45),
    )


def _blend(front: str, back: str, share: float) -> str:
    """The colour between two, ``share`` of it the front one."""
    a, b = QColor(front), QColor(back)
    pairs = ((a.red(), b.red()), (a.green(), b.green()), (a.blue(), b.blue()))
    mixed = [round(share * x + (1 - share) * y) for x, y in pairs]
    return QColor(*mixed).name()


def tabular(font: QFont) -> QFont:
    """The font with figures of one width, so that numbers stand in columns."""
    font = QFont(font)
    font.setFeature(QFont.Tag("tnum"), 1)
    return font


_theme: Theme | None = None


def theme() -> Theme:
    """The one theme of the program; made when first asked for."""
    global _theme
    if _theme is None:
        _theme = Theme()
    return _theme
