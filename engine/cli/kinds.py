"""What one word of the command line may be: numbers, names, noise, values by their numbers."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from ..domain.noise import StatedNoise, parse_noise
from ..errors import AssayPilotError

NONE = "none"
"""The word for a term that is to go."""
_NUMBER = re.compile(r"([Cc]?)0*([1-9]\d{0,8})")


class Numbered(NamedTuple):
    """A recorded value as people name it: ``17``, or ``C3`` for the third one of a control."""

    number: int
    control: bool = False


def natural(text: str) -> int:
    """Return a whole number of 0 or more."""
    try:
        value = int(text)
    except ValueError:
        value = -1
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 0 or more")
    return value


def header_rows(text: str) -> tuple[int, int]:
    """Return the row of a header and how many rows it has: 3 is (3, 1), 1-2 is (1, 2), none is (0, 0)."""
    if text.strip().casefold() == "none":
        return 0, 0
    first, dash, last = text.partition("-")
    rows = positive(first.strip()), positive(last.strip()) if dash else positive(first.strip())
    if rows[1] - rows[0] not in (0, 1):
        raise argparse.ArgumentTypeError(f"{text!r} is neither one row nor two that follow each other, such as 1-2")
    return rows[0], rows[1] - rows[0] + 1


def positive(text: str) -> int:
    """Return a whole number of 1 or more."""
    value = natural(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 1 or more")
    return value


def number(text: str) -> float:
    """Return a number, perhaps with a decimal comma; what is out of range is refused later, with the reason."""
    try:
        return float(text.replace(",", "."))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def noise(text: str) -> StatedNoise:
    """Return the assay noise as stated: an SD, or unknown."""
    try:
        return parse_noise(text)
    except AssayPilotError as error:
        raise argparse.ArgumentTypeError(f"{error.message}. {error.mend}") from None


def names(text: str) -> tuple[str, ...]:
    """Names between commas, at least one."""
    found = tuple(name.strip() for name in text.split(",") if name.strip())
    if not found:
        raise argparse.ArgumentTypeError("name at least one column")
    return found


def setting(text: str) -> tuple[str, bool | int | float | str]:
    """Name and value of a strategy's parameter."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    if value.casefold() in ("true", "yes", "false", "no"):
        return name, value.casefold() in ("true", "yes")
    for kind in (int, float):
        try:
            return name, kind(value)
        except ValueError:
            continue
    return name, value


def value_number(text: str) -> Numbered:
    """Return the value that ``17`` or ``C3`` names."""
    found = _NUMBER.fullmatch(text.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of a value, such as 17 or C3")
    return Numbered(int(found[2]), control=bool(found[1]))


def _or_none(kind: Callable[[str], Any]) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        return NONE if text.strip().casefold() == NONE else kind(text)

    read.__name__ = kind.__name__
    return read


KINDS: dict[str, Callable[[str], Any]] = {
    **{"text": str, "int": int, "number": number, "natural": natural, "positive": positive, "names": names},
    **{"noise": noise, "setting": setting, "rows": header_rows, "value": value_number},
    **{"number|none": _or_none(number), "int|none": _or_none(int)},
}
"""How a word is read, by what the table of commands calls it."""
