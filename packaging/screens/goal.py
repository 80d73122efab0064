"""Pictures of the Goal page: as it is, with other settings tried, while it simulates, and with a wrong value."""

from __future__ import annotations

from assaypilot.gui.window.main_window import GOAL
from screens.photographer import Photographer

__all__ = ["other_settings", "seen"]


def seen(at: Photographer, name: str) -> None:
    """The page, once it is known what the campaign will take."""
    at.window.show_page(GOAL)
    _foreseen(at)
    at.shoot(name)


def other_settings(at: Photographer) -> None:
    """The page as it is, and with other settings, which are taken back again."""
    seen(at, "goal")
    form = at.window.goal.form
    form.field("epsilon").edit.setText("0,7")
    form.field("budget").edit.setText("150")
    at.shoot_now("goal-busy")
    _foreseen(at)
    at.shoot("goal-tried")
    form.field("per_round").edit.setText("a plate")
    at.shoot("goal-wrong")
    at.window.goal.change.leave_button.click()


def _foreseen(at: Photographer) -> None:
    page = at.window.goal
    at.until(lambda: not (page.ahead.busy or page.other.busy), "the forecast")
