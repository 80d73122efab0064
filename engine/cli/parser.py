"""The parser of the command line: the names of the commands, which are promised to users, and what is wrong usage."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

from assaypilot.engine.cli.commands import add_commands
from assaypilot.engine.cli.together import wrong_together
from assaypilot.engine.errors import AssayPilotError

__all__ = ["COMMANDS", "WrongUsage", "parse"]

COMMANDS: frozenset[str] = frozenset(
    [
        "demo",
        "strategies",
        "datasets",
        "check",
        "new",
        "plan",
        "record",
        "exclude",
        "include",
        "correct",
        "change",
        "add",
        "stock",
        "status",
        "forecast",
        "export",
        "log",
        "verify",
        "design",
        "simulate",
        "doctor",
    ]
)
"""What the first word can be; anything else is a file for the window."""


class WrongUsage(Exception):
    """A command line that says nothing the program understands; exit 2."""

    def __init__(self, usage: str, program: str, message: str) -> None:
        super().__init__(message)
        self.usage = usage
        self.program = program

    def as_refusal(self) -> AssayPilotError:
        """The same in the form of a refusal, which is what ``--json`` prints."""
        _, _, after = str(self).partition("argument ")
        option, colon, _ = after.partition(": ")
        return AssayPilotError(str(self), option=option if colon else None, mend=f"See {self.program} --help.")


class _Parser(argparse.ArgumentParser):
    """An argument parser that raises instead of leaving the program."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("allow_abbrev", False)
        super().__init__(*args, **kwargs)

    def error(self, message: str) -> NoReturn:
        raise WrongUsage(self.format_usage(), self.prog, message)


class _Version(argparse.Action):
    """Prints the version; looked up only when asked for, since that takes a while."""

    def __init__(self, option_strings: Sequence[str], dest: str, **_: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, help="the version of this program")

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from assaypilot.engine.version import program_version

        print(f"assaypilot {program_version()}")
        parser.exit()


def parse(words: Sequence[str]) -> argparse.Namespace:
    """What a command line says; WrongUsage when it says nothing that can be done."""
    options = build_parser().parse_args(words)
    wrong = wrong_together(options)
    if wrong is not None:
        raise WrongUsage("", f"assaypilot {options.command}", wrong)
    return options


def build_parser() -> argparse.ArgumentParser:
    """The parser of everything after ``assaypilot``."""
    parser = _Parser(
        prog="assaypilot",
        description="Decides which compounds to assay next, and knows when to stop. "
        "Without a command it opens the window: assaypilot [FILE].",
        epilog="assaypilot COMMAND --help says more about each. Exit code: 0 done, 1 refused, 2 wrong usage.",
    )
    parser.add_argument("--version", action=_Version)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)

    def command(name: str, about: str, more: str = "") -> argparse.ArgumentParser:
        made: argparse.ArgumentParser = commands.add_parser(name, help=about, description=f"{about}. {more}".strip())
        made.add_argument("--json", action="store_true", help="one JSON document on stdout, nothing else there")
        return made

    add_commands(command)
    return parser
