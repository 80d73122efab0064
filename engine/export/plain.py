"""Any text of a table as one line that every format can hold, and numbers as people read them."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence

from ..campaign.state import Status
from ..chemistry.names import carried_names
from ..domain.library import Library, name_from_substituents
from .bounds import estimate_text

_NEVER = "\ufffe\uffff"
"""What is no character in XML."""
_LINES = ("Cc", "Zl", "Zp")
_SENTENCE = re.compile(r"(?<=\.) (?=[0-9A-Z])")


def plain(text: object) -> str:
    """Return the text without control characters, line breaks and halves of surrogate pairs.

    Each of which leaves a place.
    """
    whole = str(text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return "".join(
        " " if unicodedata.category(letter) in _LINES else "\ufffd" if letter in _NEVER else letter for letter in whole
    )


def sentences(text: str) -> tuple[str, str]:
    """Return the first sentence of a text, and the rest; together they are the text."""
    first, _, rest = _SENTENCE.sub("\n", plain(text), count=1).partition("\n")
    return first, rest


def named_by_substituents(library: Library, compounds: Sequence[int]) -> bool:
    """Whether the ids of these compounds say what they carry (``R1=Me|R2=Cl``): nobody needs to read it twice."""
    return all(library.ids[c] == name_from_substituents(library.sites, library.codes[c]) for c in compounds)


def shown_id(library: Library, compound: int) -> str:
    """Return the id as pages show it; one made of substituents with their short names: ``R1 Me, R2 3-pyridyl``."""
    if not named_by_substituents(library, [compound]):
        return library.ids[compound]
    return ", ".join(f"{site} {name}" for site, name in carried_names(library, compound).items())


def interval(estimate: str, low: float, high: float, digits: int) -> str:
    """Return a number with its interval: ``7.42 (7.21 to 7.63)``; ``not known`` without the number."""
    if not estimate:
        return "not known"
    known = math.isfinite(low) and math.isfinite(high)
    return estimate + (f" ({low:.{digits}f} to {high:.{digits}f})" if known else "")


def values(status: Status, compound: int, digits: int) -> list[tuple[str, str, bool]]:
    """Return what is known of a compound.

    (quantity, number with interval, whether the bounds decide) of each endpoint asked.

    Where nothing is decided yet the objective has its 95 % posterior interval, which does not decide.
    """
    known = status.candidates
    found = []
    for place in status.asked_endpoints:
        endpoint = status.endpoints[place]
        low, high = math.nan, math.nan
        if endpoint.name in known.lows:
            low, high = float(known.lows[endpoint.name][compound]), float(known.highs[endpoint.name][compound])
        decides = math.isfinite(low) and math.isfinite(high)
        if not decides and place == status.objective:
            low, high = float(known.posterior_low[compound]), float(known.posterior_high[compound])
        estimate = estimate_text(status, endpoint.name, compound, digits)
        found.append((endpoint.scale_name, interval(estimate, low, high, digits), decides))
    return found
