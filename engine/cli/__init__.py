"""The command line: the same program without a window."""

from .parser import COMMANDS
from .program import main

__all__ = ["COMMANDS", "main"]
