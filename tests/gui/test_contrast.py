"""Text stands out from its ground in both themes (WCAG 2.2, AA: 4.5 to 1), and so do the shapes of states (3 to 1)."""

import pytest
from PySide6.QtWidgets import QLineEdit

from assaypilot.gui.resources.theme import DARK, LIGHT, style_sheet

TEXT, SHAPE = 4.5, 3.0


def luminance(colour):
    """Relative luminance of ``#rrggbb``."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(ink, ground):
    """From 1 (none) to 21 (black on white)."""
    darker, lighter = sorted((luminance(ink), luminance(ground)))
    return (lighter + 0.05) / (darker + 0.05)


def faint(colours):
    """What does not stand out: ink, ground, contrast."""
    figure = colours.figure
    grounds = {name: getattr(colours, name) for name in ("page", "panel", "soft_accent", "hover", "question")}
    texts = {name: getattr(colours, name) for name in ("text", "muted", "accent", "error", "caution")}
    texts |= {"undecided": figure.status[0], "in": figure.status[1]}
    pairs = [(ink, ground, a, b, TEXT) for ink, a in texts.items() for ground, b in grounds.items()]
    pairs += [(name, "error_ground", getattr(colours, name), colours.error_ground, TEXT) for name in ("text", "muted")]
    pairs += [("on_accent", "accent", colours.on_accent, colours.accent, TEXT)]
    pairs += [
        ("cutoff", ground, figure.cutoff, on, TEXT)
        for ground, on in (("figure", figure.background), ("band", figure.band))
    ]
    pairs += [("out", ground, figure.status[2], grounds[ground], SHAPE) for ground in ("page", "panel", "soft_accent")]
    pairs += [("muted", "band", figure.muted, figure.band, TEXT)]
    return [(ink, ground, round(contrast(a, b), 2)) for ink, ground, a, b, least in pairs if contrast(a, b) < least]


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_text_and_shapes_stand_out_from_every_ground(colours):
    assert faint(colours) == []


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_placeholder_is_as_readable_as_a_hint(qtbot, colours):
    edit = QLineEdit()
    qtbot.addWidget(edit)
    edit.setPlaceholderText("such as alkyl")
    edit.setStyleSheet(style_sheet(colours, edit.font()))
    edit.ensurePolished()
    shown = edit.palette().placeholderText().color()
    assert (shown.name(), shown.alpha()) == (colours.muted, 255)
