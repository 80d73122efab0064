"""``doctor``, ``strategies`` and ``datasets``: the program's environment and what it ships."""

from __future__ import annotations

import json
import locale
import os
import platform
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from ..system import program_version, version_of
from ..system.places import try_folder
from ..text import pick
from .program import Reply, data_folder, table

_PACKAGES = ("numpy", "scipy", "pandas", "rdkit", "matplotlib", "PySide6-Essentials")
_QT_SECONDS = 30
"""How long Qt may take to start; a hanging display server must not hang the doctor."""

# Runs in a separate process: Qt ends its process when no platform can be loaded. The packaged program has
# no Python to run it, so packaging/frozen_start.py runs exactly this text itself.
ASK_QT = """
import json
from PySide6.QtCore import qVersion
from PySide6.QtGui import QFontDatabase, QGuiApplication
application = QGuiApplication([])
families = QFontDatabase.families()
print(json.dumps({"version": qVersion(), "platform": application.platformName(), "fonts": len(families),
                  "font": application.font().family()}))
"""


def doctor(*_: object) -> Reply:
    """Return the program's environment. It lists problems, and none is an error."""
    document = {
        "assaypilot": program_version(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "processors": os.cpu_count(),
        "packages": {name: version_of(name) for name in _PACKAGES},
        "sqlite": sqlite3.sqlite_version,
        "qt": _qt(),
        "write_access": {
            "data_folder": _writable(data_folder()),
            "current_folder": _writable(Path.cwd()),
            "temporary_folder": _has_temporary_folder(),
        },
        "locale": {
            "name": ".".join(part for part in locale.getlocale() if part) or "C",
            "text_encoding": locale.getpreferredencoding(False),
            "file_names": sys.getfilesystemencoding(),
            "decimal_point": locale.localeconv()["decimal_point"],
        },
    }
    return Reply(document, _lines(document))


def _qt() -> dict[str, Any]:
    """Version, platform, number of font families, and what is wrong (None: nothing)."""
    absent: dict[str, Any] = {"version": None, "platform": None, "fonts": None, "font": None}
    try:
        answer = subprocess.run(
            [sys.executable, "-c", ASK_QT], capture_output=True, timeout=_QT_SECONDS, check=False, text=True,
            errors="replace",
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return absent | {"problem": f"Qt did not answer ({type(error).__name__})"}
    lines = answer.stdout.strip().splitlines()
    if answer.returncode or not lines:
        problem = " ".join(answer.stderr.split()) or f"Qt ended with exit code {answer.returncode}"
        if "No module named" in answer.stderr:
            problem = "PySide6 is not installed; the window needs it, the command line does not"
        return absent | {"version": version_of("PySide6-Essentials"), "problem": problem[:500]}
    found: dict[str, Any] = json.loads(lines[-1])
    return found | {"problem": None if found["fonts"] else "no fonts were found: texts in the window would be empty"}


def _writable(folder: Path) -> bool:
    """Whether a file can be made there (or in the nearest folder that exists, when it does not yet)."""
    while not folder.exists() and folder.parent != folder:
        folder = folder.parent
    try:
        try_folder(folder)
    except OSError:
        return False
    return True


def _has_temporary_folder() -> bool:
    """Whether the system has a folder for temporary files that can be written to."""
    try:
        return _writable(Path(tempfile.gettempdir()))
    except OSError:  # none of those it knows of
        return False


def _lines(document: dict[str, Any]) -> list[str]:
    """Return the same as text, one fact a line."""
    qt, packages, writes = document["qt"], document["packages"], document["write_access"]
    facts = [
        ("AssayPilot", document["assaypilot"]),
        ("Python", document["python"]),
        ("System", f"{document['platform']}, {document['processors']} processors"),
        *((name, version or "not installed") for name, version in packages.items()),
        ("SQLite", document["sqlite"]),
        ("Qt", f"{qt['version'] or 'none'}, platform {qt['platform'] or 'none'}"),
        ("Fonts", "unknown" if qt["fonts"] is None else f"{qt['fonts']} families, {qt['font']}"),
        ("Locale", f"{document['locale']['name']}, {document['locale']['text_encoding']}"),
        *((f"Write: {name.replace('_', ' ')}", "yes" if ok else "NO") for name, ok in writes.items()),
    ]
    if qt["problem"]:
        facts.append(("Problem", qt["problem"]))
    width = max(len(name) for name, _ in facts)
    return [f"{name:<{width}}  {value}" for name, value in facts]


_CHOOSERS: tuple[dict[str, Any], ...] = tuple(
    {
        "name": name,
        "title": title,
        "goals": ["epsilon-best", "pareto", "best", "top"],
        "parameters": [],
        "guarantee": "that of the strategy it takes",
        "baseline": False,
        "source": "AssayPilot",
        "version": 1,
    }
    for name, title in (
        ("auto", "Calibrated on real series: gaussian-process (the default)"),
        ("proven", "Proven if effects add up: the one that needs the fewest measurements for goal, limits and size"),
    )
)
"""Names that ``new`` and ``simulate`` take besides those of strategies."""


def strategies(*_: object) -> Reply:
    """Return the strategies and baselines by name, with their parameters."""
    from ..simulate.baselines import baselines
    from ..strategies.registry import failed, strategies

    listed = (*strategies(), *baselines())
    document = [
        {
            **pick(strategy.info, "name title goals guarantee baseline source version"),
            "parameters": [pick(knob, "name default meaning") for knob in strategy.info.parameters],
        }
        for strategy in listed
    ]
    document = [*_CHOOSERS, *document]
    lines = [f"{chooser['name']}: {chooser['title']}" for chooser in _CHOOSERS]
    for strategy in listed:
        info = strategy.info
        lines += [
            f"{info.name}: {info.title}",
            f"  answers: {', '.join(info.goals)}{' (only for comparison, in simulate)' if info.baseline else ''}",
            f"  {info.guarantee}",
            f"  source: {info.source}",
            *table(
                ["Parameter", "Default", "Meaning"],
                [
                    (knob.name, "none" if knob.default is None else knob.default, knob.meaning)
                    for knob in info.parameters
                ],
                indent="  ",
            ),
        ]
    lines += [f"Not available: {why}" for why in failed().values()]
    return Reply(document, lines)


def datasets(*_: object) -> Reply:
    """Return the tables that come with the program; each can be given to ``check`` and ``new`` by its file."""
    from assaypilot import datasets as shipped

    tables = [shipped.load(name) for name in shipped.names()]
    document = [
        {
            **pick(entry, "name title rows sites endpoints source licence synthetic"),
            "file": str(entry.path),
        }
        for entry in tables
    ]
    lines: list[str] = []
    for entry in tables:
        lines += [
            f"{entry.name}: {entry.title}",
            f"  {entry.rows} rows; sites {', '.join(entry.sites)}; endpoints {', '.join(entry.endpoints)}",
            f"  source: {entry.source}",
            f"  licence: {entry.licence}",
            f"  file: {entry.path}",
        ]
    return Reply(document, lines)
