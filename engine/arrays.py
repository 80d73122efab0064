"""The arrays of the engine, by what they hold; shapes stand beside the names that have them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
"""Places, counts and codes."""
Flags = NDArray[np.bool_]
"""Yes or no, one for each."""
