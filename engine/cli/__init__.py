"""The command line: the same program without a window."""

from assaypilot.engine.cli.parser import COMMANDS
from assaypilot.engine.cli.program import main

__all__ = ["COMMANDS", "main"]
