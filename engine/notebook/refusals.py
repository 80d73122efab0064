"""Refusals as Python says them: an option of the command line is a keyword here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import AssayPilotError

__all__ = ["keywords", "with_keywords"]

_OPTION = re.compile(r"--([a-z][a-z-]*)(?: (\d+(?:\.\d+)?))?")
"""An option, with its value where that is a number."""
_ENDPOINT = re.compile(r'--endpoint "([^";]+);([a-z_]+)=([^";]+)"')
"""One thing said of an endpoint."""


@contextmanager
def with_keywords() -> Iterator[None]:
    """Name keywords instead of options in what is refused inside; also a decorator."""
    try:
        yield
    except AssayPilotError as error:
        error.message = keywords(error.message)
        error.option = None if error.option is None else keywords(error.option)
        error.mend = None if error.mend is None else keywords(error.mend)
        raise


def keywords(text: str) -> str:
    """Return a text with keywords in place of options, ``sd=0.2`` for ``--sd 0.2``."""
    text = _ENDPOINT.sub(r'endpoints={"\1": {"\2": "\3"}}', text)
    return _OPTION.sub(lambda found: found[1].replace("-", "_") + (f"={found[2]}" if found[2] else ""), text)
