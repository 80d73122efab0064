"""The liquid handlers for which lists of transfers are written."""

from __future__ import annotations

from typing import Literal

__all__ = ["ENDINGS", "HANDLERS", "Handler"]

Handler = Literal["echo", "hamilton", "tecan"]
HANDLERS: tuple[Handler, ...] = ("echo", "hamilton", "tecan")
ENDINGS: dict[Handler, str] = {"echo": ".csv", "hamilton": ".csv", "tecan": ".gwl"}
"""How the name of a list ends."""
