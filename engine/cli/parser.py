"""The parser of the command line: what one word may be, what goes together, and what is wrong usage."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any, NamedTuple, NoReturn

from ..domain.noise import StatedNoise, parse_noise
from ..errors import AssayPilotError
from .commands import COMMANDS, PARTS

NONE = "none"
"""The word that removes a term."""
_NUMBER = re.compile(r"([Cc]?)0*([1-9]\d{0,8})")


class Numbered(NamedTuple):
    """A recorded value as people name it: ``17``, or ``C3`` for the third one of a control."""

    number: int
    control: bool = False


def whole(text: str) -> int:
    """Return a whole number; what is out of range is refused later, with the reason."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None


def natural(text: str) -> int:
    """Return a whole number of 0 or more."""
    value = whole(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 0 or more")
    return value


def header_rows(text: str) -> tuple[int, int]:
    """Return the row of a header and how many rows it has: 3 is (3, 1), 1-2 is (1, 2), none is (0, 0)."""
    if text.strip().casefold() == "none":
        return 0, 0
    first, dash, last = text.partition("-")
    rows = positive(first.strip()), positive(last.strip()) if dash else positive(first.strip())
    if rows[1] - rows[0] not in (0, 1):
        raise argparse.ArgumentTypeError(f"{text!r} is neither one row nor two that follow each other, such as 1-2")
    return rows[0], rows[1] - rows[0] + 1


def positive(text: str) -> int:
    """Return a whole number of 1 or more."""
    value = natural(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 1 or more")
    return value


def number(text: str) -> float:
    """Return a number, perhaps with a decimal comma; what is out of range is refused later, with the reason."""
    try:
        return float(text.replace(",", "."))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def noise(text: str) -> StatedNoise:
    """Return the assay noise as stated: an SD, or unknown."""
    try:
        return parse_noise(text)
    except AssayPilotError as error:
        raise argparse.ArgumentTypeError(f"{error.message}. {error.mend}") from None


def names(text: str) -> tuple[str, ...]:
    """Names between commas, at least one."""
    found = tuple(name.strip() for name in text.split(",") if name.strip())
    if not found:
        raise argparse.ArgumentTypeError("name at least one column")
    return found


def setting(text: str) -> tuple[str, bool | int | float | str]:
    """Name and value of a strategy's parameter."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    if value.casefold() in ("true", "yes", "false", "no"):
        return name, value.casefold() in ("true", "yes")
    for kind in (int, float):
        try:
            return name, kind(value)
        except ValueError:
            continue
    return name, value


def value_number(text: str) -> Numbered:
    """Return the value that ``17`` or ``C3`` names."""
    found = _NUMBER.fullmatch(text.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of a value, such as 17 or C3")
    return Numbered(int(found[2]), control=bool(found[1]))


def _or_none(kind: Callable[[str], Any]) -> Callable[[str], Any]:
    return lambda text: NONE if text.strip().casefold() == NONE else kind(text)


KINDS: dict[str, Callable[[str], Any]] = {
    **{"text": str, "int": whole, "number": number, "natural": natural, "positive": positive, "names": names},
    **{"noise": noise, "setting": setting, "rows": header_rows, "value": value_number},
    **{"number|none": _or_none(number), "int|none": _or_none(whole)},
}
"""How a word is read, by what the table of commands calls it."""


_LONGEST_USAGE = 6


class WrongUsage(Exception):
    """A command line that the program does not understand; exit 2."""

    def __init__(self, usage: str, program: str, message: str, mend: str = "", *, option: str | None = None) -> None:
        super().__init__(message)
        # A page of options would hide the one line with the error.
        self.usage = usage if usage.count("\n") <= _LONGEST_USAGE else ""
        self.program = program
        self.mend = mend
        _, _, after = message.partition("argument ")
        named, colon, _ = after.partition(": ")
        self.option = named if option is None and colon else option

    @property
    def line(self) -> str:
        """The fault, and the remedy where there is one."""
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
    """Print the version, looked up only on request because that takes a while."""

    def __init__(self, option_strings: Sequence[str], dest: str, **_: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, help="the version of this program")

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from ..system import program_version

        print(f"assaypilot {program_version()}")
        parser.exit()


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Return the parsed command line; WrongUsage when it cannot be run."""
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
        better = advice(words, str(error), known)
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


def without_help_word(words: Sequence[str]) -> list[str]:
    """Return the words with ``help`` and ``version`` as the options they mean: ``help check`` is ``check --help``."""
    if words[:1] == ["help"]:
        return [*words[1:2], "--help"]
    return ["--version"] if list(words) == ["version"] else list(words)


def advice(words: Sequence[str], message: str, options: Mapping[str, Collection[str]]) -> tuple[str, str] | None:
    """Return a better message, with its remedy, for an error of the parser; None where none is known.

    ``options``: those of each command.
    """
    command = next((word for word in words if word in options), None)
    first = next((word for word in words if not word.startswith("-")), "")
    if "argument COMMAND: invalid choice" in message or (command is None and words):
        fault = f"there is no command {first!r}" if first else "there is no command"
        return fault, f"{_nearest(first.casefold(), options)}assaypilot --help lists them."
    left = message.removeprefix("unrecognized arguments: ")
    if command is None or left == message:
        return None
    see = f"See assaypilot {command} --help."
    wrong = next((word.partition("=")[0] for word in left.split() if word.startswith("-")), None)
    if wrong is None:
        mend = f"A name with spaces goes in quotation marks; separate several values by commas. {see}"
        return f"{left!r} is too much", mend
    bare = "--" + wrong.lstrip("-").replace("_", "-").casefold()
    others = [name for name, known in options.items() if bare in known and bare not in options[command]]
    found = f"It is one of {', '.join(others)}. " if others else _nearest(bare, options[command])
    return f"{wrong} is no option of {command}", f"{found}{see}"


def _nearest(word: str, known: Collection[str]) -> str:
    """Return a question whether one of the known words is meant, with a space behind; empty where none is near."""
    begun = [name for name in known if len(word) > len("--x") and name.startswith(word)]
    near = begun if len(begun) == 1 else get_close_matches(word, sorted(known), n=1, cutoff=_NEAR)
    return f"Did you mean {near[0]}? " if near else ""


def wrong_together(options: argparse.Namespace) -> str | None:
    """Return the fault of a command's options in combination; None without one."""

    def given(name: str) -> bool:
        return bool(getattr(options, name.lstrip("-").replace("-", "_")))

    for rule in COMMANDS[options.command].rules:
        names, word, others = rule.split()
        for name in filter(given, names.split(",")):
            wrong = next((one for one in others.split(",") if given(one) == (word == "excludes")), None)
            if wrong is not None:
                return f"argument {name}: give {f'it or {wrong}' if word == 'excludes' else f'{wrong} with it'}"
    if options.command == "record" and not (options.results or options.close or options.unavailable):
        return "name a table of results, or say --close or --unavailable ID"
    return _simulated(options) if options.command == "simulate" and not options.list else None


def _simulated(options: argparse.Namespace) -> str | None:
    """Return the error in the choice of instance and strategies; None without one."""
    if sum(map(bool, (options.dataset, options.table, options.instance))) != 1:
        return "give one of --dataset NAME, --table TABLE, --instance NAME; or --list"
    if options.strategy is None:
        return "argument --strategy: name one or several; see assaypilot strategies"
    if options.truth is not None and options.instance is not None:
        return "argument --truth: an instance has its own truth"
    return None


_ENTRY = re.compile(
    r"(?P<name>\S+)(?: (?P<metavar>[^\s(<]\S*))?(?: <(?P<choices>\S+)>)?(?: \((?P<attributes>[^)]*)\))?: (?P<help>.*)"
)


def add_options(parser: argparse.ArgumentParser, takes: tuple[str, ...], group: Any = None) -> Any:
    """Add what a command takes to its parser, from a group on; return the group that was the last."""
    group = group or parser
    for entry in takes:
        if entry.startswith("@"):
            group = add_options(parser, PARTS[entry].takes, group)
            continue
        if entry.startswith("["):
            title, _, about = entry[1:].partition("]")
            group = parser.add_argument_group(title, about.strip() or None)
            continue
        found = _ENTRY.fullmatch(entry)
        if found is None:
            raise ValueError(f"not in the form of an option: {entry}")
        group.add_argument(found["name"], **_settings(found))
    return group


def _settings(entry: re.Match[str]) -> dict[str, Any]:
    """Return the argparse keywords of an option or a positional."""
    attributes = [] if entry["attributes"] is None else entry["attributes"].split(", ")
    keywords: dict[str, Any] = {"help": entry["help"]}
    if entry["name"].startswith("--") and not (entry["metavar"] or entry["choices"] or attributes):
        return keywords | {"action": "store_true"}
    kind: Callable[[str], Any] = next((KINDS[word] for word in attributes if word in KINDS), str)
    if kind is not str:
        keywords["type"] = kind
    if entry["metavar"]:
        keywords["metavar"] = entry["metavar"]
    if entry["choices"]:
        keywords["choices"] = [kind(word) for word in entry["choices"].split("|")]
    for word in attributes:
        if word.startswith("default "):
            keywords["default"] = word.removeprefix("default ")
        elif word == "required":
            keywords["required"] = True
        elif word == "many":
            keywords |= {"action": "append", "default": []}
        elif word == "any":
            keywords["nargs"] = "*"
        elif word == "optional":
            keywords |= {"nargs": "?"} | ({"const": ""} if entry["name"].startswith("--") else {})
    return keywords
