"""The menu's and the keys' way through the moments of a campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .main_window import MainWindow

__all__ = ["look_back", "play"]


def look_back(window: MainWindow, by: int | None) -> None:
    """Show the candidates (or the pictures, where they are open) so many rounds on; None: now."""
    _seen(window)
    if by is None:
        window.session.replay.go(None)
    else:
        window.session.replay.step(by)


def play(window: MainWindow) -> None:
    """Show round after round, or stay at the one shown."""
    _seen(window)
    moments = window.session.replay
    (moments.pause if moments.playing else moments.play)()


def _seen(window: MainWindow) -> None:
    if window.page not in (window.candidates, window.sar):
        window.show_page(window.pages.index(window.candidates))
