"""What somebody meant whose command line means nothing: the nearest command or option, and how it goes on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches

__all__ = ["advice", "without_help_word"]

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
