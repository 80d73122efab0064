"""Runs on a Dask cluster: an optional extra, ``assaypilot[cluster]``."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TypeVar

from ..errors import AssayPilotError
from ..system.progress import Report

__all__ = ["on_cluster"]

Part = TypeVar("Part")
Result = TypeVar("Result")

_CONNECT = 10.0
"""Seconds to wait for the scheduler."""
_LOOK = 0.2
"""Seconds between two looks at whether to go on."""


def on_cluster(
    work: Callable[[Part], Result], parts: Sequence[Part], address: str, report: Report
) -> Generator[Result, None, None]:
    """The result of each part, as they come, from the workers of the scheduler at ``address``.

    With ``tls://`` Dask takes its certificates from its own settings (``distributed.comm.tls``). With ``tcp://``
    traffic is neither encrypted nor authenticated, and results are pickled: the network must be one to trust.

    Workers need the same program installed. AssayPilotError without the extra, or when nobody answers at the address.
    What is under way is cancelled when the iterator is closed.
    """
    try:
        from distributed import Client, wait
    except ImportError:
        raise AssayPilotError(
            "the cluster extra is not installed", option="--cluster", mend="pip install assaypilot[cluster]"
        ) from None
    report(0.0, "connecting to the cluster")
    try:
        client = Client(address, timeout=_CONNECT, set_as_default=False)
    except (OSError, ValueError, TypeError, ImportError) as error:
        raise AssayPilotError(
            f"nobody answers at {address!r} ({type(error).__name__})",
            option="--cluster",
            mend="Give the scheduler's address, such as tcp://host:8786.",
        ) from None
    with client, client.as_current():
        futures = client.map(work, parts, pure=False)
        open_ones = set(futures)
        try:
            done = 0
            while open_ones:
                try:
                    finished = wait(open_ones, timeout=_LOOK, return_when="FIRST_COMPLETED").done
                except TimeoutError:
                    report(done / len(parts), f"{done:,} of {len(parts):,} parts are back from the cluster")
                    continue
                for future in finished:
                    done += 1
                    yield future.result()
                open_ones -= finished
        finally:
            if open_ones:
                client.cancel(list(open_ones))
