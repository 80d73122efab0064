"""The parser of the command line: the names of the commands, which are promised to users, and what is wrong usage."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

from ..errors import AssayPilotError
from .commands import add_commands
from .option_rules import wrong_together
from .usage import advice, without_help_word

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
        "audit",
        "curves",
        "exclude",
        "include",
        "correct",
        "change",
        "add",
        "stock",
        "status",
        "forecast",
        "export",
        "overview",
        "log",
        "verify",
        "sign",
        "design",
        "simulate",
        "doctor",
    ]
)
"""What the first word can be; anything else is a file for the window."""

_LONGEST_USAGE = 6
_BETWEEN_COMMAS = (
    "--sites",
    "--unavailable",
    "--arrived",
    "--strategy",
    "--drop-site",
    "--control-columns",
    "--neutral",
    "--full",
)


class WrongUsage(Exception):
    """A command line that says nothing the program understands; exit 2."""

    def __init__(self, usage: str, program: str, message: str, mend: str = "", *, option: str | None = None) -> None:
        super().__init__(message)
        # A page of options would hide the one line that says what is wrong.
        self.usage = usage if usage.count("\n") <= _LONGEST_USAGE else ""
        self.program = program
        self.mend = mend
        _, _, after = message.partition("argument ")
        named, colon, _ = after.partition(": ")
        self.option = named if option is None and colon else option

    @property
    def line(self) -> str:
        """What is wrong, and the mend where there is one."""
        mend = self.mend or ("" if self.usage else f"See {self.program} --help.")
        return f"{str(self).rstrip('.')}. {mend}" if mend else str(self)

    def as_refusal(self) -> AssayPilotError:
        """Return the same in the form of a refusal, which is what ``--json`` prints."""
        return AssayPilotError(str(self), option=self.option, mend=self.mend or f"See {self.program} --help.")


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
        from ..system.version import program_version

        print(f"assaypilot {program_version()}")
        parser.exit()


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Return what a command line says; WrongUsage when it says nothing that can be done."""
    options = _parsed(without_help_word(words))
    wrong = wrong_together(options)
    if wrong is not None:
        raise WrongUsage("", f"assaypilot {options.command}", wrong)
    return options


def _parsed(words: Sequence[str]) -> argparse.Namespace:
    """Return the options of a command line; WrongUsage names what was probably meant."""
    parser = build_parser()
    try:
        return parser.parse_args(words)
    except WrongUsage as error:
        choices = next(action.choices for action in parser._actions if isinstance(action.choices, dict))
        known = {name: set(made._option_string_actions) for name, made in choices.items()}
        better = advice(words, str(error), known, _BETWEEN_COMMAS)
        if better is None:
            raise
        raise WrongUsage("", error.program, *better, option=error.option) from None


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of everything after ``assaypilot``."""
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
