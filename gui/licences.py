"""The libraries the program stands on, with version, licence and licence text, as their own metadata say. No Qt."""

from __future__ import annotations

import platform
import re
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageMetadata, PackageNotFoundError, distribution
from pathlib import Path

__all__ = ["Part", "parts"]

ROOTS = ("assaypilot", "numpy", "scipy", "pandas", "rdkit", "matplotlib", "PySide6-Essentials")
"""Where the search begins: the program, and its main libraries should its own metadata be missing."""
BUILT_WITH = "pyinstaller"
"""Its starter is part of the packaged program."""

_LEGAL = re.compile(r"licen[cs]e|copying|notice", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_LONGEST = 160
"""Letters of a licence's name; some put its whole text where the name belongs."""


@dataclass(frozen=True, slots=True)
class Part:
    """One library."""

    name: str
    version: str
    licence: str
    files: tuple[Path, ...]
    """The texts of its licence and notices."""

    def text(self) -> str:
        """Its licence texts one after the other; a sentence where it brings none along."""
        texts = []
        for path in self.files:
            try:
                texts.append(path.read_text(encoding="utf-8", errors="replace").strip())
            except OSError:
                continue
        return "\n\n\n".join(texts) or f"{self.name} brings no licence text along. Its licence: {self.licence}."


def parts() -> tuple[Part, ...]:
    """The program, Python, and every installed library that the program asks for, itself or through another."""
    frozen = getattr(sys, "frozen", False)
    found: dict[str, Part] = {}
    waiting = [*ROOTS, *([BUILT_WITH] if frozen else [])]
    while waiting:
        name = waiting.pop(0)
        try:
            one = distribution(name)
        except (PackageNotFoundError, ValueError):
            continue  # wanted on another system only, or not installed
        key = _key(one.metadata["Name"])
        if key not in found:
            found[key] = Part(one.metadata["Name"], one.version, _licence(one.metadata), _files(one))
            waiting += _required(one.requires or ())
    own = found.pop("assaypilot", None)
    python = Part("Python", platform.python_version(), "PSF-2.0", _files_of_python())
    return (*([own] if own else []), python, *(found[key] for key in sorted(found)))


def _key(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).casefold()


def _required(requirements: Sequence[str]) -> list[str]:
    """The names of what a library asks for, without what only its extras ask for."""
    names = []
    for requirement in requirements:
        wanted, _, marker = requirement.partition(";")
        match = _NAME.match(wanted.strip())
        if match is not None and "extra" not in marker:
            names.append(match[0])
    return names


def _licence(metadata: PackageMetadata) -> str:
    """The licence's name: as an expression, as a short word, or as the classifier that names it."""
    for field in ("License-Expression", "License"):
        words = metadata.get_all(field) or [""]
        text = str(words[0]).strip()
        if text and "\n" not in text and len(text) <= _LONGEST:
            return text
    named = [str(words) for words in metadata.get_all("Classifier") or []]
    names = [words.rpartition(" :: ")[2] for words in named if words.startswith("License :: ")]
    return ", ".join(names) or "see its text"


def _files(one: Distribution) -> tuple[Path, ...]:
    """The licence texts in a library's metadata folder."""
    for file in one.files or ():
        if file.name == "METADATA":
            folder = Path(str(one.locate_file(file))).parent
            inside = [path for path in sorted(folder.rglob("*")) if path.is_file()]
            return tuple(path for path in inside if _LEGAL.search(path.relative_to(folder).as_posix()))
    return ()


def _files_of_python() -> tuple[Path, ...]:
    """Python's licence, where it lies beside its library or in the packaged program."""
    bundle = getattr(sys, "_MEIPASS", None)
    folder = Path(bundle) / "licences" / "Python" if bundle is not None else Path(sysconfig.get_path("stdlib"))
    return tuple(path for path in (folder / "LICENSE.txt",) if path.is_file())
