"""Texts of the engine without the options of the command line that they name.

The one place where words are rewritten: it goes once refusals are codes with fields.
"""

from __future__ import annotations

import re

from assaypilot.engine.errors import AssayPilotError

WORDS = (
    ("If an empty cell means hydrogen: --blank h.", "If an empty cell means hydrogen, choose that at the left."),
    ("Name the columns with the substituents: --sites ", "Tick the columns with the substituents, for example "),
    (', for example --endpoint "', ', for example "'),
    ("name it with --endpoint to use it", "choose it under Measured to use it"),
    ("Without epsilon or slack two", "Without a soft zone two"),
    ("No tolerance (epsilon) was given", "No tolerance was given"),
    ('For example "REF-1;value=7.1".', "For example REF-1 = 7.1."),
)
"""Options of the command line, and what stands for them in the window."""
_OPTION = re.compile(r" \(--[a-z-]+ [^)]*\)")
"""An option named in passing, which the window leaves out."""


def error_words(error: AssayPilotError) -> tuple[str, str]:
    """What is wrong, with its place, and the mend."""
    plain = AssayPilotError(error.message, file=error.file, row=error.row, column=error.column)
    text = str(plain)
    text = text[:1].upper() + text[1:] if not error.file else text
    return (text if text.endswith((".", "?", "!")) else text + "."), for_window(error.mend or "")


def for_window(text: str) -> str:
    """A text of the engine, which names options of the command line, as the window says it."""
    for option, words in WORDS:
        text = text.replace(option, words)
    return _OPTION.sub("", text)


PATTERNS = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"; --drop-site leaves a site out\.", "; or leave a site out."),
        (r" \(--min-seen\)", ""),
        (r", or give the core of the structures: --core SMILES\.", ", or take the structures apart with a core."),
        (r"Name the columns with the substituents: --sites COLUMN,COLUMN", "Tick the columns with the substituents"),
        (r"If they are at hand: --[a-z= -]+\.", "If they are at hand, choose none under Cost and Lead time."),
        (r"is a site, too, name all of them with --sites\.", "is a site, too, tick it under Columns."),
        (r"If an empty cell means hydrogen: --blank h\.", "If an empty cell means hydrogen, say so under Columns."),
        (r"direction=min of (.+?) is on the model scale: it", r"Lower \1 is better on that scale: it"),
        (r"Leave direction out to look for", "Choose higher to look for"),
        (r"Give --core or --sites, not both; a site of the core is left out with --drop-site\.", "Choose one of them."),
        (r"To count them as one: --merge identical\.", "To count them as one, choose that under Same structure."),
        (r"Say what marks the decimals: --decimal point or --decimal comma\.", "Choose what marks the decimals."),
        (r"Name it: --smiles COLUMN\.", "Choose it under Structure."),
        (r"[Nn]ame the sheet: --sheet NAME\.", "Choose a sheet."),
        (r"Name it: --join FILE:COLUMN\.", "Choose the columns of ids."),
        (r"Name the column of ids of the other file: --join FILE:COLUMN\.", "Choose other columns of ids."),
        (r'No endpoint was found; name one with --endpoint "NAME;sd=\.\.\." \(it need not be a column\)\.',
         "Nothing that is measured was found; name it under Measured (it need not be a column)."),
        (r"name one with --endpoint", "choose one under Measured"),
        (r"name it with --endpoint", "choose it under Measured"),
        (r"If they are one: --join-substituents '[^']*'\.", "If they are one, join them (Check, Substituents)."),
        (r"For example --join-substituents[^.]*\.", ""),
        (r'State the SD between runs: --endpoint "[^"]*;sd=\.\.\."\.',
         "State the SD between runs under Assay noise (SD)."),
        (r'If it is the negative one, as pIC50 is: --endpoint "[^"]*"\.',
         "If it is the negative one, as pIC50 is, choose higher."),
        (r" (?:To choose|For others|For another one): --(?:id|sites|smiles) [^.]*\.", " It is changed under Columns."),
        (r"; for another one: --smiles COLUMN\.", "."),
        (r" (?:Otherwise|If lower is better): --endpoint \"[^\"]*\"\.", " It is changed under Measured."),
        (r" Or: --assays .*", ""),
        (r"For example --endpoint[^.]*(\.\d+[^.]*)*\.", "Look at Measured and Unit."),
    )
)  # fmt: skip
"""Texts of the engine and what the window says instead."""


def import_words(text: str) -> str:
    """A text of the engine as the import says it."""
    for pattern, words in PATTERNS:
        text = pattern.sub(words, text)
    return for_window(text)


def import_error(error: AssayPilotError) -> tuple[str, str]:
    """What is wrong, with its place, and the mend."""
    return import_words(error_words(error)[0]), import_words(error.mend or "")
