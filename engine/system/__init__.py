"""Files, processes, threads and memory; and which versions of the program and of its libraries these are."""

from __future__ import annotations


def version_of(package: str) -> str | None:
    """Return the version of an installed package; None where it is not installed."""
    from importlib.metadata import PackageNotFoundError, version  # what every process would load otherwise

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def program_version() -> str:
    """Return the version of this program."""
    return version_of("assaypilot") or "0+unknown"  # run from a folder that was never installed
