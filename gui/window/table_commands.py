"""The tables of a window: how each was arranged, for each campaign, and the work that is done for them."""

from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path
from typing import Any

from ..candidates.candidates_page import CandidatesPage
from ..history.history_page import HistoryPage
from ..library.library_page import LibraryPage
from ..runtime.settings import Settings
from ..session.session import Session
from ..session.view import View

LAYOUTS = "table/of campaigns"
SELECTED = "selected"
"""The key of the compound selected last."""
CAMPAIGNS = 30
"""Campaigns whose layouts are remembered."""


class Tables:
    """Columns, order, filter and selection come back with a campaign; a new one begins with the columns of the last."""

    def __init__(
        self, session: Session, settings: Settings,
        library: LibraryPage, candidates: CandidatesPage, history: HistoryPage,
    ) -> None:  # fmt: skip
        self._session, self._settings = session, settings
        self._pages: dict[str, LibraryPage | CandidatesPage | HistoryPage] = {
            "library": library,
            "candidates": candidates,
            "history": history,
        }
        self._restoring = False
        for name, page in self._pages.items():
            page.arrangement.changed.connect(partial(self._keep, name))
        library.filter.narrowed.connect(lambda _: self._keep("library"))
        candidates.filter.narrowed.connect(lambda _: self._keep("candidates"))
        candidates.which.chosen.connect(lambda _: self._keep("candidates"))
        session.selection.changed.connect(self._keep_selection)

    def restore(self, view: View) -> None:
        """Arrange the tables as they were in this campaign, else with the columns of the one before."""
        own = self._layouts().get(_key(view.path), {})
        self._restoring = True
        for name, page in self._pages.items():
            values = own.get(name)
            page.arrange(values if isinstance(values, dict) else self._columns(name))
        selected = own.get(SELECTED)
        if isinstance(selected, int) and 0 <= selected < len(view.status.library):
            self._session.selection.choose(selected)
        self._restoring = False

    def _columns(self, name: str) -> dict[str, Any]:
        """Return the columns a table had last; an order belongs to its campaign."""
        values = self._settings.values(f"table/{name}")
        return {key: value for key, value in values.items() if key != "sorted"}

    def forget(self) -> None:
        """All tables as they were at first, in every campaign."""
        self._settings.keep_values(LAYOUTS, {})
        self._restoring = True
        for name, page in self._pages.items():
            self._settings.keep_values(f"table/{name}", {})
            page.arrange({})
        self._restoring = False

    def _keep(self, name: str) -> None:
        view = self._session.view
        if self._restoring or view is None:
            return
        page = self._pages[name]
        # The filter of a table belongs to its campaign; another one only starts with the same columns.
        self._settings.keep_values(f"table/{name}", page.arrangement.values())
        self._remember(view, name, page.layout_values)

    def _keep_selection(self) -> None:
        view, compound = self._session.view, self._session.selection.compound
        if not self._restoring and view is not None and compound is not None:
            self._remember(view, SELECTED, compound)

    def _remember(self, view: View, name: str, values: object) -> None:
        layouts = self._layouts()
        own = layouts.pop(_key(view.path), {})
        layouts[_key(view.path)] = {**own, name: values}
        while len(layouts) > CAMPAIGNS:
            del layouts[next(iter(layouts))]
        self._settings.keep_values(LAYOUTS, layouts)

    def _layouts(self) -> dict[str, dict[str, Any]]:
        found = self._settings.values(LAYOUTS)
        return {key: value for key, value in found.items() if isinstance(value, dict)}


def _key(path: Path) -> str:
    """Return the key of a campaign: its place, hashed."""
    return hashlib.sha256(str(path.absolute()).encode("utf-8", "surrogatepass")).hexdigest()[:16]
