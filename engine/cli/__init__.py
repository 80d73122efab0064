"""The command line: the same program without a window."""

from .commands import COMMANDS
from .program import main

__all__ = ["COMMANDS", "main"]
