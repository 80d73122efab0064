"""The parser of the command line, and what is wrong usage."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any, NoReturn

from ..errors import AssayPilotError
from .commands import COMMANDS, add_options

_LONGEST_USAGE = 6
_BETWEEN_COMMAS = (
    *("--sites", "--unavailable", "--arrived", "--strategy", "--drop-site", "--control-columns", "--neutral", "--full"),
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


@cache
def build_parser() -> argparse.ArgumentParser:
    """Return the parser of everything after ``assaypilot``; made once."""
    parser = _Parser(
        prog="assaypilot",
        description="Decides which compounds to assay next, and knows when to stop. "
        "Without a command it opens the window: assaypilot [FILE].",
        epilog="assaypilot COMMAND --help says more about each. Exit code: 0 done, 1 refused, 2 wrong usage.",
    )
    parser.add_argument("--version", action=_Version)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)

    for name, command in COMMANDS.items():
        made: argparse.ArgumentParser = commands.add_parser(
            name, help=command.about, description=f"{command.about}. {command.more}".strip()
        )
        made.add_argument("--json", action="store_true", help="one JSON document on stdout, nothing else there")
        add_options(made, command.takes)
    return parser


_NEAR = 0.6
_OTHER_WORDS = {
    "close": "record FILE --close",
    "create": "new",
    "start": "new",
    "open": "assaypilot FILE, without a command",
    "next": "plan",
    "results": "record",
    "undo": "Undo in the window; plan FILE --withdraw takes a round back, exclude FILE NUMBER leaves a value out",
    "withdraw": "plan FILE --withdraw",
    "report": "export FILE OUT.pdf",
    "shortlist": "export FILE OUT.csv",
    "history": "log",
    "list": "status FILE, or datasets for the shipped tables",
    "show": "status",
    "info": "status, or doctor",
    "import": "new FILE --table TABLE; add FILE TABLE for more compounds",
}
"""What other programs call our commands."""


def without_help_word(words: Sequence[str]) -> list[str]:
    """Return the words with ``help`` and ``version`` as the options they mean: ``help check`` is ``check --help``."""
    if words[:1] == ["help"]:
        return [*words[1:2], "--help"]
    return ["--version"] if list(words) == ["version"] else list(words)


def advice(
    words: Sequence[str], message: str, options: Mapping[str, Collection[str]], takes_list: Collection[str]
) -> tuple[str, str] | None:
    """Return a better message and its mend for what the parser says of wrong words; None where nothing better is known.

    ``options``: those of each command; ``takes_list``: the ones whose values stand between commas.
    """
    command = next((word for word in words if word in options), None)
    first = next((word for word in words if not word.startswith("-")), "")
    if "argument COMMAND: invalid choice" in message or (command is None and words):
        return _of_command(first, options)
    if command is None:
        return None
    if message.startswith("unrecognized arguments: "):
        return _of_words(words, command, message.removeprefix("unrecognized arguments: ").split(), options, takes_list)
    if "arguments are required" in message and "--table" in message and command == "new":
        return message, "Write: assaypilot new FILE --table TABLE, with FILE for the campaign that is made."
    return None


def _of_command(word: str, options: Mapping[str, Collection[str]]) -> tuple[str, str] | None:
    if not word:
        return "there is no command", "assaypilot --help lists them."
    near = get_close_matches(word.casefold(), list(options), n=1, cutoff=_NEAR)
    meant = _OTHER_WORDS.get(word.casefold()) or (near[0] if near else None)
    mend = f"Did you mean: {meant}? " if meant else ""
    return f"there is no command {word!r}", f"{mend}assaypilot --help lists them."


def _of_words(
    words: Sequence[str],
    command: str,
    left: Sequence[str],
    options: Mapping[str, Collection[str]],
    takes_list: Collection[str],
) -> tuple[str, str]:
    """Return what to say of words that a command does not take."""
    see = f"See assaypilot {command} --help."
    wrong = next((word.partition("=")[0] for word in left if word.startswith("-")), None)
    if wrong is not None:
        bare = "--" + wrong.lstrip("-").replace("_", "-").casefold()
        own = sorted(options[command])
        begun = [name for name in own if name.startswith(bare)] if len(bare) > len("--x") else []
        near = begun if len(begun) == 1 else get_close_matches(bare, own, n=1, cutoff=_NEAR)
        others = [name for name, known in options.items() if bare in known]
        if others and bare not in own:
            return f"{wrong} is no option of {command}", f"It is one of {', '.join(others)}. {see}"
        if near:
            return f"{wrong} is no option of {command}", f"Did you mean {near[0]}? {see}"
        return f"{wrong} is no option of {command}", see
    # What stands behind an option that takes several values was meant for it.
    at = words.index(left[0]) if left[0] in words else len(words)
    option = next((word for word in reversed(words[:at]) if word.startswith("-")), None)
    said = f"{' '.join(left)!r} is too much"
    if option is not None and option in takes_list and list(words).index(option) < at - 1:
        given = [*words[list(words).index(option) + 1 : at], *left]
        return said, f"Several values of {option} stand between commas, without spaces: {option} {','.join(given)}."
    return said, f"A name with spaces goes in quotation marks. {see}"


def wrong_together(options: argparse.Namespace) -> str | None:
    """Return what is wrong with the options of a command as a whole; None where nothing is."""
    of_command = {"plan": _plan, "record": _record, "curves": _curves, "simulate": _simulate, "design": _design}
    return of_command[options.command](options) if options.command in of_command else None


def _plan(options: argparse.Namespace) -> str | None:
    if options.plate is None:
        of_plates = [("--control-columns", options.control_columns), ("--no-edge", options.no_edge)]
        for name, given in [*of_plates, ("--same-wells", options.same_wells)]:
            if given:
                return f"argument {name}: give --plate with it"
    elif options.no_plates:
        return "argument --no-plates: give it or --plate"
    issuing = next((name for name in ("--options", "--withdraw") if getattr(options, name[2:])), None)
    if issuing is not None:
        for name, given in (("--choose", options.choose), ("--out", options.out), ("--confirm", options.confirm),
                            ("--orders", options.orders), ("--plate", options.plate),
                            ("--no-plates", options.no_plates), ("--transfers", options.transfers),
                            ("--withdraw", options.withdraw and options.options)):  # fmt: skip
            if given:
                return f"argument {name}: {issuing} issues nothing; give one of the two"
    robots = {
        "--transfers": options.transfers,
        "--format": options.format,
        "--sources": options.sources,
        "--volume": options.volume,
        "--source-plate": options.source_plate,
    }
    lacking = [name for name, given in robots.items() if given is None]
    if lacking and len(lacking) < len(robots):
        return f"argument {lacking[0]}: a list of transfers needs {', '.join(robots)}"
    if options.choose and options.confirm:
        return "argument --choose: a confirmation round leaves no choice"
    return None


def _record(options: argparse.Namespace) -> str | None:
    if options.results is None and not options.close and not options.unavailable:
        return "name a table of results, or say --close or --unavailable ID,..."
    if options.missing is not None and not options.close:
        return "argument --missing: it says what --close does; give both"
    return None


def _curves(options: argparse.Namespace) -> str | None:
    if (options.highest is None) != (options.dilution is None):
        return "argument --highest: give it and --dilution, or neither"
    if options.highest is not None and options.map is None:
        return "argument --highest: it is of a plate map; give --map"
    if options.dilution is not None and not options.dilution > 1.0:
        return "argument --dilution: it must be above 1, such as 3"
    return None


def _simulate(options: argparse.Namespace) -> str | None:
    if options.list:
        return None
    sources = [options.dataset, options.table, options.instance]
    if sum(source is not None for source in sources) != 1:
        return "give one of --dataset NAME, --table TABLE, --instance NAME; or --list"
    if options.strategy is None:
        return "argument --strategy: name one or several; see assaypilot strategies"
    if options.truth is not None and options.instance is not None:
        return "argument --truth: an instance has its own truth"
    return None


def _design(options: argparse.Namespace) -> str | None:
    if (options.cost is None) != (options.budget is None):
        given, lacks = ("--cost", "--budget") if options.budget is None else ("--budget", "--cost")
        return f"argument {given}: give {lacks} with it"
    if options.cost is None and options.cost_per_measurement:
        return "argument --cost-per-measurement: it is part of a budget; give --cost and --budget with it"
    if options.budget is not None and options.max_support is not None:
        return "argument --max-support: a budget decides how many compounds are made; give one of the two"
    return None
