"""The words of chemists' tables, as ``vocabulary.ini`` beside this file lists them."""

from __future__ import annotations

import re
from configparser import ConfigParser
from pathlib import Path

_FILE = ConfigParser(delimiters=(":",), comment_prefixes=(";",), interpolation=None)
_FILE.read_string(Path(__file__).with_name("vocabulary.ini").read_text(encoding="utf-8"))
HEADERS, ROLES, CELLS, SUBSTITUENTS = (
    {name: tuple(" ".join(word.split()) for word in words.split("|")) for name, words in _FILE[section].items()}
    for section in ("headers", "roles", "cells", "substituents")
)
"""What columns are called, those beside values by what they hold; what cells say; other names of substituents."""
PUBCHEM_UNITS = dict(_FILE["pubchem units"])
PATTERNS = {name: re.compile("".join(text.splitlines())) for name, text in _FILE["patterns"].items()}
"""What headers and words are about, where a list of them would not end."""

for _role in ("date", "plate", "well", "batch", "comment"):
    ROLES[_role] += tuple(f"{of} {name}" for of in ("assay", "test") for name in ROLES[_role])
