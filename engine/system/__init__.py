"""Files, processes, threads and memory; and which version of the program this is."""

from __future__ import annotations


def program_version() -> str:
    """Return the version of this program."""
    from importlib.metadata import PackageNotFoundError, version  # what every process would load otherwise

    try:
        return version("assaypilot")
    except PackageNotFoundError:  # run from a folder that was never installed
        return "0+unknown"
