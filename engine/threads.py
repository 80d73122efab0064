"""How many threads linear algebra uses."""

from __future__ import annotations

import os

__all__ = ["one_thread_for_algebra"]


def one_thread_for_algebra() -> None:
    """Ask for one thread in numpy's linear algebra, unless the user asked for a number; call it before numpy loads.

    Our matrices are small: on a busy machine the threads' waiting costs up to 27 times the work they share.
    """
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
