"""The options of other load generators on a command line, and what to type here in their place."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final, NamedTuple

from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.other_tools import OTHER_OPTIONS, OtherOption

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS: Final = ("perf", "accuracy", "sweep", "search", "audit")
"""The commands that send load: those that an option of a load generator is meant for."""

_OPEN_LOADS: Final = frozenset({"--rate", "-r", "--stages", "--trace", "--offline", "--request-rate"})
_OBJECTIVES: Final = {
    "ttft": "ttft",
    "time_to_first_token": "ttft",
    "tpot": "tpot",
    "inter_token_latency": "tpot",
    "e2el": "latency",
    "request_latency": "latency",
}
_BOUNDS_A_RATE: Final = OtherOption(("vLLM", "SGLang"), "--concurrency {}", "without a rate: a closed loop")


class _Typed(NamedTuple):
    """An option of another tool as it was typed, and what to type here.

    Attributes:
        words: The option and its values.
        option: Its row in the table.
        ours: What to type in place of them; empty for nothing.
        is_complete: Whether that can be typed as it is.
        note: What differs, where anything does.
    """

    words: Sequence[str]
    option: OtherOption
    ours: str
    is_complete: bool
    note: str = ""


def require_own_options(arguments: Sequence[str]) -> None:
    """Refuse options of other tools, with what they are called here.

    Args:
        arguments: The command line, without the program.

    Raises:
        UsageError: There is one; the message has each, and the whole command where it is known.
    """
    if not arguments or arguments[0] not in COMMANDS:
        return
    words = _split(arguments)
    typed = [word for word in words if isinstance(word, _Typed)]
    if not typed:
        return
    room = max(len(shlex.join(word.words)) for word in typed)
    lines = [f"{shlex.join(word.words):<{room}}  {_advice(word)}".rstrip() for word in typed]
    tools = ", ".join(dict.fromkeys(tool for word in typed for tool in word.option.tools))
    options = "this option has another name" if len(typed) == 1 else "these options have other names"
    message = [
        f"{options} here ({tools}; see docs/coming-from.md):",
        *(f"  {ln}" for ln in lines),
    ]
    if all(word.is_complete for word in typed):
        message.append(f"type: {_command(words)}")
    raise UsageError("\n".join(message))


def _advice(word: _Typed) -> str:
    """What to type, or why nothing is."""
    if not word.ours:
        return f"leave it out{f': {word.note}' if word.note else ''}"
    return f"{word.ours}{f'  ({word.note})' if word.note else ''}"


def _command(words: Sequence[str | _Typed]) -> str:
    """The whole command line, in this program's options."""
    ours = dict.fromkeys(word.ours for word in words if isinstance(word, _Typed) and word.ours)
    own = [word for word in words if isinstance(word, str)]
    return " ".join(["loadgen", shlex.join(own), *ours])


def _split(arguments: Sequence[str]) -> list[str | _Typed]:
    """The words of a command line, those of other tools' options together with their values."""
    is_open = any(word.partition("=")[0] in _OPEN_LOADS for word in map(_hyphenated, arguments))
    words: list[str | _Typed] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        name, joined, value = word.partition("=")
        option = OTHER_OPTIONS.get(_hyphenated(name))
        if option is None:
            words.append(word)
            continue
        values = [value] if joined else []
        while (
            rest and not rest[0].startswith("--") and (option.values == "many" or len(values) < option.values)
        ):
            values.append(rest.pop(0))
        words.append(_typed(word, option, values, joined=bool(joined)))
    if any(isinstance(word, _Typed) for word in words) and not is_open:
        return _in_a_closed_loop(words)
    return words


def _typed(word: str, option: OtherOption, values: Sequence[str], *, joined: bool) -> _Typed:
    value = " ".join(values)
    words = [word, *([] if joined else values)]
    if value in option.by_value:
        return _Typed(words, option, option.by_value[value], is_complete=True)
    if option is OTHER_OPTIONS["--goodput"] and (objectives := _objectives(value)):
        return _Typed(words, option, f"--require {shlex.quote(objectives)}", is_complete=True)
    if option is OTHER_OPTIONS["--tasks"]:
        return _Typed(
            words, option, " ".join(f"--task {name}" for name in value.split(",")), is_complete=True
        )
    if "{}" in option.ours and not value:
        return _Typed(words, option, option.ours.replace("{}", "VALUE"), is_complete=False, note=option.note)
    return _Typed(
        words, option, option.ours.replace("{}", shlex.quote(value)), option.is_complete, option.note
    )


def _objectives(value: str) -> str | None:
    """Objectives such as `ttft:200 tpot:50`, in milliseconds, as a rule; None for anything else."""
    bounds = []
    for objective in value.split():
        name, _, limit = objective.partition(":")
        if name not in _OBJECTIVES or not limit.replace(".", "", 1).isdigit():
            return None
        bounds.append(f"{_OBJECTIVES[name]}<{limit}ms")
    return f"good({','.join(bounds)}):fraction>=0.95" if bounds else None


def _in_a_closed_loop(words: Sequence[str | _Typed]) -> list[str | _Typed]:
    """The same, with `--max-concurrency` as vLLM and SGLang mean it where no rate is given."""
    changed: list[str | _Typed] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name, joined, value = word.partition("=") if isinstance(word, str) else ("", "", "")
        if not isinstance(word, str) or _hyphenated(name) != "--max-concurrency":
            changed.append(word)
        elif joined:
            changed.append(_typed(word, _BOUNDS_A_RATE, [value], joined=True))
        elif rest and isinstance(rest[0], str):
            changed.append(_typed(word, _BOUNDS_A_RATE, [str(rest.pop(0))], joined=False))
    return changed


def _hyphenated(word: str) -> str:
    """An option's name with hyphens, which other tools' parsers take underscores for."""
    name, joined, value = word.partition("=")
    return (name.replace("_", "-") if name.startswith("--") else name) + joined + value
