"""Refusals as Python says them: an option of the command line is a keyword here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import AssayPilotError

__all__ = ["with_keywords"]

_OPTION = re.compile(r"--([a-z][a-z-]*)(?: (\d+(?:\.\d+)?))?")
"""An option, with its value where that is a number."""


@contextmanager
def with_keywords() -> Iterator[None]:
    """Name keywords instead of options in what is refused inside; also a decorator."""
    try:
        yield
    except AssayPilotError as error:
        error.message = _keywords(error.message)
        error.option = None if error.option is None else _keywords(error.option)
        error.mend = None if error.mend is None else _keywords(error.mend)
        raise


def _keywords(text: str) -> str:
    return _OPTION.sub(lambda found: found[1].replace("-", "_") + (f"={found[2]}" if found[2] else ""), text)
