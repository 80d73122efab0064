"""What the help says: chapters of short topics, each with a key that links and windows name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..keys import as_here

__all__ = ["CHAPTERS", "HOME", "PRESENT", "Topic", "topic_of", "topics"]

FOLDER = Path(__file__).parent
CHAPTERS = (
    ("journey", "The journey"),
    ("pages", "Pages"),
    ("dialogs", "Questions and dialogs"),
    ("words", "Words"),
    ("keys", "Keys"),
)
"""Files in the order they are read, each with its name."""
HOME = "journey"
HEAD = re.compile(r"^# ([a-z-]+): (.+)$", re.MULTILINE)
LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")

PRESENT = {
    "StartPage": "start",
    "LibraryPage": "library",
    "GoalPage": "goal",
    "RoundPage": "round",
    "CandidatesPage": "candidates",
    "SarPage": "sar",
    "HistoryPage": "history",
    "NewCampaign": "new-campaign",
    "BlankQuestion": "blank",
    "Preview": "paste",
    "ExportDialog": "export",
    "WorkListDialog": "work-list",
    "ClosePanel": "close-round",
    "WithdrawPanel": "withdraw",
    "ChangePanel": "change",
    "EndpointDialog": "add-endpoint",
    "TogetherDialog": "two-sites",
    "ControlsDialog": "controls",
    "MoreDialog": "add-compounds",
    "ReplayBar": "replay",
    "ExcludeDialog": "exclude",
    "CorrectDialog": "correct",
    "UnavailableDialog": "unavailable",
    "AuditDialog": "audit",
    "ProjectDialog": "project",
    "PreferencesDialog": "preferences",
    "ReportDialog": "report",
    "AboutDialog": "about",
    "LicencesDialog": "about",
    "TourCard": "practice",
}
"""The topic of a page, dialog or panel, by the name of its class. A class may also say its own: ``topic = "key"``."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One short text."""

    key: str
    title: str
    chapter: str
    text: str
    """Markdown without its heading."""

    @property
    def links(self) -> tuple[str, ...]:
        """The keys it refers to."""
        return tuple(LINK.findall(self.text))

    def holds(self, words: str) -> bool:
        """Whether every word stands in its title or text."""
        inside = f"{self.title} {self.text}".casefold()
        return all(word in inside for word in words.casefold().split())


@cache
def topics() -> dict[str, Topic]:
    """All topics by key, in the order they are read."""
    found: dict[str, Topic] = {}
    for file, chapter in CHAPTERS:
        parts = HEAD.split((FOLDER / f"{file}.md").read_text(encoding="utf-8"))
        for key, title, text in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
            found[key] = Topic(key, title, chapter, as_here(text.strip()))
    return found


def topic_of(shown: object) -> str | None:
    """The key of the topic about a page, a dialog or a panel; None when it has none."""
    own = getattr(shown, "topic", None)
    if isinstance(own, str):
        return own
    return next((PRESENT[kind.__name__] for kind in type(shown).__mro__ if kind.__name__ in PRESENT), None)
