"""The window's memory between sessions, which is no part of a campaign."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QSettings, QStandardPaths

from ..resources.theme import Choice

AUTHOR = "ASSAYPILOT_AUTHOR"
RECENT = 8
MAPPINGS = 30


class Settings:
    """Recent files, folders, geometry, theme and column mappings, in the place the system has for settings."""

    def __init__(self, file: Path | None = None) -> None:
        """Use the user's own settings, or those of a file."""
        form, scope = QSettings.Format.IniFormat, QSettings.Scope.UserScope
        self._store = QSettings(form, scope, "AssayPilot", "AssayPilot") if file is None else QSettings(str(file), form)
        self._home = None if file is None else file.parent
        self._sets_author = False
        """Whether the name in the log comes from here."""

    @property
    def data_folder(self) -> Path:
        """Where the practice campaign and error reports are kept; made when missing."""
        if self._home is not None:
            folder = self._home / "data"
        else:
            place = QStandardPaths.StandardLocation.GenericDataLocation
            folder = Path(QStandardPaths.writableLocation(place)) / "AssayPilot"
        with suppress(OSError):  # a full or a read-only disk: writing to it raises the error
            folder.mkdir(parents=True, exist_ok=True)
        return folder

    @property
    def theme(self) -> Choice:
        """The chosen colours."""
        value = self._store.value("theme", "system")
        return "light" if value == "light" else "dark" if value == "dark" else "system"

    @theme.setter
    def theme(self, choice: Choice) -> None:
        self._store.setValue("theme", choice)

    @property
    def text_size(self) -> int:
        """The size of all text, in percent of the system's: 100 to 200."""
        return min(max(self._whole("text_size", 100), 100), 200)

    @text_size.setter
    def text_size(self, percent: int) -> None:
        self._store.setValue("text_size", percent)

    @property
    def structures(self) -> bool:
        """Whether structures are drawn."""
        return self._whole("structures", 1) != 0

    @structures.setter
    def structures(self, drawn: bool) -> None:
        self._store.setValue("structures", int(drawn))

    @property
    def author(self) -> str:
        """The user's name in the log; empty: the name in the system."""
        return self.text("author")

    @author.setter
    def author(self, name: str) -> None:
        self.keep_text("author", name)
        self.apply_author()

    def apply_author(self) -> None:
        """Set the user's name for campaigns opened from now on, by the variable of the command line."""
        if self.author:
            os.environ[AUTHOR] = self.author
        elif self._sets_author:
            os.environ.pop(AUTHOR, None)
        self._sets_author = bool(self.author)

    @property
    def campaigns(self) -> Path | None:
        """The folder proposed for new campaigns; None: the folder of their table."""
        text = self.text("campaigns")
        return Path(text) if text and Path(text).is_dir() else None

    @campaigns.setter
    def campaigns(self, folder: Path | None) -> None:
        self.keep_text("campaigns", "" if folder is None else str(folder))

    @property
    def recent(self) -> list[Path]:
        """Campaigns opened before that are still there, the latest first."""
        return [path for text in self._texts("recent") if _is_there(path := Path(text))]

    def add_recent(self, path: Path) -> None:
        """Put a campaign first in the list."""
        texts = [str(path.absolute())]
        first = os.path.normcase(texts[0])  # Windows does not distinguish capitals
        texts += [text for text in self._texts("recent") if os.path.normcase(text) != first]
        self._store.setValue("recent", json.dumps(texts[:RECENT]))

    def forget_recent(self) -> None:
        """Forget which campaigns were opened."""
        self._store.setValue("recent", "[]")

    @property
    def folder(self) -> Path:
        """The folder of the last file chosen; the documents folder at first."""
        text = self._store.value("folder", "")
        if isinstance(text, str) and text and Path(text).is_dir():
            return Path(text)
        documents = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
        return Path(documents) if documents and Path(documents).is_dir() else Path.home()

    @folder.setter
    def folder(self, folder: Path) -> None:
        self._store.setValue("folder", str(folder))

    def folder_for(self, purpose: str) -> Path:
        """Return the folder something of a kind was written to last; the one of the last file chosen until then."""
        text = self.text(f"folder/{purpose}")
        return Path(text) if text and Path(text).is_dir() else self.folder

    def keep_folder_for(self, purpose: str, folder: Path) -> None:
        """Remember the folder something of a kind was written to."""
        self.keep_text(f"folder/{purpose}", str(folder))

    def layout(self, name: str) -> QByteArray | None:
        """Return the saved state of a window or a splitter."""
        value = self._store.value(f"layout/{name}")
        return value if isinstance(value, QByteArray) else None

    def keep_layout(self, name: str, state: QByteArray) -> None:
        """Remember a window's or a splitter's state."""
        self._store.setValue(f"layout/{name}", state)

    def forget_layouts(self) -> None:
        """Windows, panels and columns will be as they were at first."""
        for name in self._store.allKeys():
            if name.startswith(("layout/", "table/")):
                self._store.remove(name)

    def text(self, name: str) -> str:
        """Return a short text that was kept under a name; empty when there is none."""
        value = self._store.value(name, "")
        return value if isinstance(value, str) else ""

    def keep_text(self, name: str, text: str) -> None:
        """Keep a short text under a name."""
        self._store.setValue(name, text)

    def values(self, name: str) -> dict[str, Any]:
        """Named values that were kept under a name; empty when there are none."""
        value = self._json(name)
        return value if isinstance(value, dict) else {}

    def keep_values(self, name: str, values: dict[str, Any]) -> None:
        """Keep named values under a name."""
        self._store.setValue(name, json.dumps(values))

    def mapping(self, headers: Sequence[str]) -> dict[str, Any] | None:
        """Return the remembered roles for a table with these headers."""
        found = self._mappings().get(_key(headers))
        return found if isinstance(found, dict) else None

    def keep_mapping(self, headers: Sequence[str], mapping: dict[str, Any]) -> None:
        """Remember the roles for a table with these headers."""
        kept = self._mappings()
        kept.pop(_key(headers), None)
        kept[_key(headers)] = mapping
        while len(kept) > MAPPINGS:
            del kept[next(iter(kept))]
        self._store.setValue("mappings", json.dumps(kept))

    def flush(self) -> None:
        """Write the settings to the disk."""
        self._store.sync()

    def _whole(self, name: str, otherwise: int) -> int:
        try:
            return int(str(self._store.value(name, otherwise)))
        except ValueError:  # written by hand
            return otherwise

    def _mappings(self) -> dict[str, Any]:
        return self.values("mappings")

    def _texts(self, key: str) -> list[str]:
        value = self._json(key)
        return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []

    def _json(self, key: str) -> object:
        try:
            return json.loads(str(self._store.value(key, "null")))
        except ValueError:  # written by hand, or by a later version
            return None


def _is_there(path: Path) -> bool:
    """Whether a file is where it was. Of one on a server that is taken for granted until it is opened.

    Windows takes up to a minute to find out that a server does not answer, and a start must not wait for that.
    """
    return str(path).startswith(("\\\\", "//")) or path.is_file()


def _key(headers: Sequence[str]) -> str:
    return "\t".join(header.strip().casefold() for header in headers)
