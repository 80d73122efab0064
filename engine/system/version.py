"""Which version of the program this is."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def program_version() -> str:
    """Return the version of this program."""
    try:
        return version("assaypilot")
    except PackageNotFoundError:  # run from a folder that was never installed
        return "0+unknown"
