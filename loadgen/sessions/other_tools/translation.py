"""The commands and options of other load generators on a command line, and what to type in their place."""

from __future__ import annotations

import re
import shlex
from pathlib import PurePath
from typing import TYPE_CHECKING, Final, NamedTuple

from loadgen.sessions.errors import UsageError
from loadgen.sessions.other_tools.tables import (
    OF_A_PROFILE,
    OTHER_COMMANDS,
    OTHER_OPTIONS,
    OTHER_VALUES,
    OtherCommand,
    OtherOption,
)
from loadgen.sessions.other_tools.values import TOGETHER
from loadgen.sessions.settings.accuracy import AccuracySettings
from loadgen.sessions.settings.concerns import fields_of
from loadgen.sessions.settings.perf import PerfSettings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


COMMANDS: Final = ("perf", "accuracy", "sweep", "search", "audit")
"""The commands that send load: those that an option of a load generator is meant for."""

_LOADS: Final = ("--concurrency", "--rate", "--stages", "--trace", "--offline", "--sessions")
_RATES: Final = frozenset({"--rate", "-r", "--stages", "--trace", "--offline", "--request-rate"})
_CLOSED: Final = OtherOption(("vLLM", "SGLang"), "--concurrency {}", "without a rate: a closed loop")
_NO_LIMIT: Final = OtherOption(("vLLM", "SGLang"), "", "the load is what --max-concurrency says")
_UNKNOWN: Final = OtherOption((), "", "no such option", is_secret=True)
_LAUNCHERS: Final = frozenset({"python", "python3", "-m", "uv", "uvx", "run", "poetry"})
_DEFAULT: Final = re.compile(r"\[((--[\w-]+)[^]]*)\] ?")
"""An option of a scenario that another typed option replaces: `[--seed 42]`."""
_PROFILES: Final = frozenset({"--profile", "--rate-type"})
_CONCURRENCY: Final = re.compile(r"(?<!\S)(--concurrency|-c)(?=[ =])")
_SWEPT: Final = ("--concurrency", "--rate")


class _Typed(NamedTuple):
    """Words of another tool as they were typed, and what to type here.

    Attributes:
        words: The option and its values, or an argument.
        name: The name of the option, with hyphens; empty for an argument.
        value: Its value; several separated by blanks.
        option: Its row in the table.
        ours: What to type in place of them; empty for nothing.
        is_complete: Whether that can be typed as it is.
    """

    words: Sequence[str]
    name: str
    value: str
    option: OtherOption
    ours: str
    is_complete: bool


def require_own_options(arguments: Sequence[str]) -> None:
    """Refuse commands and options of other tools, with what they are called here."""
    if arguments and arguments[0] in COMMANDS:
        command, first, theirs, rest = None, arguments[0], "", arguments[1:]
    elif (named := _command_of(arguments)) is not None:
        command, theirs, rest = named
        first = command.ours
    else:
        return
    if command is not None and command.scenario and not any(word.startswith("--scenario") for word in rest):
        rest = ["--scenario", command.scenario, *rest]
    words = _together(_without_limit(_split(rest, command, first)))
    typed = [word for word in words if isinstance(word, _Typed)]
    if not typed and command is None:
        return
    lines = _lines(typed, theirs, first)
    if all(word.is_complete for word in typed):
        lines.append(f"type: {_line(words, first, command)}")
    raise UsageError("\n".join(lines))


def _command_of(arguments: Sequence[str]) -> tuple[OtherCommand, str, Sequence[str]] | None:
    """A command of another tool, its words, and what follows them."""
    start = 0
    while start < len(arguments) and arguments[start] in _LAUNCHERS:
        start += 1
    named = [*map(_plain, arguments[start : start + 1]), *map(_hyphens, arguments[start + 1 : start + 3])]
    for end in range(len(named), 0, -1):
        if command := OTHER_COMMANDS.get(" ".join(named[:end])):
            return command, shlex.join(arguments[: start + end]), arguments[start + end :]
    return None


def _plain(word: str) -> str:
    return _hyphens(PurePath(word).name.removesuffix(".py"))


def _hyphens(word: str) -> str:
    return word.replace("_", "-")


def _lines(typed: Sequence[_Typed], theirs: str, first: str) -> list[str]:
    """What is called otherwise here: the command, and each option."""
    room = max((len(shlex.join(word.words)) for word in typed), default=0)
    lines = [f"  {shlex.join(word.words):<{room}}  {_advice(word)}".rstrip() for word in typed]
    if theirs:
        return [f"`{theirs}` is `loadgen {first}` here (see docs/coming-from.md):", *lines]
    tools = ", ".join(dict.fromkeys(tool for word in typed for tool in word.option.tools))
    options = "the option has another name" if len(typed) == 1 else "these options have other names"
    return [f"{options} here ({tools}; see docs/coming-from.md):", *lines]


def _advice(word: _Typed) -> str:
    """What to type, or why nothing is."""
    note, ours = word.option.note, _DEFAULT.sub(r"\1 ", word.ours)
    if not ours:
        return f"leave it out{f': {note}' if note else ''}"
    return f"{ours}{f'  ({note})' if note else ''}"


def _line(words: Sequence[str | _Typed], first: str, command: OtherCommand | None) -> str:
    """The whole command line, in this program's words."""
    ours = dict.fromkeys(word.ours for word in words if isinstance(word, _Typed) and word.ours)
    own = [word for word in words if isinstance(word, str)]
    parts = _without_defaults([*([shlex.join(own)] if own else []), *ours])
    if first == "accuracy":
        parts = [part.replace("--task ", "") for part in parts]
    if any(part.startswith("--rate ") for part in parts) and first == "perf":
        parts = [_CONCURRENCY.sub("--max-concurrency", part) for part in parts]
    if command is not None:
        options = {word.partition("=")[0] for part in parts for word in shlex.split(part)}
        parts += [command.adds] if command.adds and command.adds not in parts else []
        parts += [command.load] if command.load and options.isdisjoint(_LOADS) else []
    if first == "perf" and any(_is_swept(part) for part in parts):
        first = "sweep"
    return " ".join(["loadgen", first, *parts])


def _without_defaults(parts: list[str]) -> list[str]:
    """The parts of a command line with each option of a scenario, unless the option is in another part."""
    typed = {word for part in parts for word in shlex.split(_DEFAULT.sub("", part))}
    return [_DEFAULT.sub(lambda match: "" if match[2] in typed else f"{match[1]} ", part) for part in parts]


def _is_swept(part: str) -> bool:
    option, _, value = part.partition(" ")
    return option in _SWEPT and "," in value.partition(" ")[0] and ":" not in value


def _split(arguments: Sequence[str], command: OtherCommand | None, first: str) -> list[str | _Typed]:
    """The words of a command line, those of another tool together with their values."""
    own = {} if command is None else _own_options(first)
    table = {**OTHER_OPTIONS, **(command.options if command else {})}
    if not _PROFILES.isdisjoint(_hyphens(word.partition("=")[0]) for word in arguments):
        table["--rate"] = OF_A_PROFILE
    words: list[str | _Typed] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        name, joined, value = _parted(word, table if command else {})
        option = _option(name, value if joined else next(iter(rest), ""), table)
        if option is None and (command is None or name in own or not name):
            if command is not None and not name:
                words.append(_argument(word, command))
                continue
            words.append(word)
            if command is not None and not joined and own[name] and rest:
                words.append(rest.pop(0))
            continue
        values = [value] if joined else []
        option = option or _UNKNOWN
        while (
            rest
            and not rest[0].startswith("-")
            and (option.values == "many" or len(values) < option.values)
            and not (option is _UNKNOWN and "://" in rest[0])
        ):
            values.append(rest.pop(0))
        shown = [name] if option.is_secret else [word, *([] if joined else values)]
        words.append(_typed(shown, name, option, " ".join(values)))
    return words


def _parted(word: str, table: Mapping[str, OtherOption]) -> tuple[str, bool, str]:
    """The name of an option with hyphens, whether a value is joined to it, and the value."""
    if not word.startswith("-") or word in {"-", "--"}:
        return "", False, ""
    name, joined, value = word.partition("=")
    name = _hyphens(name) if name.startswith("--") else name
    if name[:2] in table and not name.startswith("--") and name not in table:
        return name[:2], True, word[2:]
    return name, bool(joined), value


def _option(name: str, value: str, table: Mapping[str, OtherOption]) -> OtherOption | None:
    """The row of an option; of one that is here too only where its value is another tool's."""
    if name in table:
        return table[name]
    theirs, option = OTHER_VALUES.get(name, ("", None))
    return option if theirs and theirs in value else None


def _argument(word: str, command: OtherCommand) -> _Typed:
    row = OtherOption((command.tool,), command.argument, read=command.reads_argument)
    return _typed([word], "", row, word)


def _typed(words: Sequence[str], name: str, option: OtherOption, value: str) -> _Typed:
    if value in option.by_value:
        return _Typed(words, name, value, option, option.by_value[value], is_complete=True)
    if value and option.read is not None and (read := option.read(value)) is not None:
        return _Typed(words, name, value, option, read, is_complete=True)
    if "{}" in option.ours and not value:
        return _Typed(words, name, value, option, option.ours.replace("{}", "VALUE"), is_complete=False)
    ours = option.ours.replace("{}", shlex.quote(value))
    return _Typed(words, name, value, option, ours, option.is_complete)


def _without_limit(words: Sequence[str | _Typed]) -> list[str | _Typed]:
    """The words with `--max-concurrency` as vLLM means it, where no rate is given or the rate is `inf`."""
    names = [word.name if isinstance(word, _Typed) else word.partition("=")[0] for word in words]
    endless = [isinstance(word, _Typed) and word.value == "inf" for word in words]
    is_open = any(name in _RATES and not inf for name, inf in zip(names, endless, strict=True))
    limited = any(_hyphens(name) == "--max-concurrency" for name in names)
    if is_open or not limited or not any(isinstance(word, _Typed) for word in words):
        return list(words)
    changed: list[str | _Typed] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if isinstance(word, _Typed):
            unlimited = word.name in _RATES and word.value == "inf"
            changed.append(word._replace(option=_NO_LIMIT, ours="") if unlimited else word)
            continue
        name, joined, value = _parted(word, {})
        if name != "--max-concurrency" or not (joined or (rest and isinstance(rest[0], str))):
            changed.append(word)
            continue
        value = value if joined else str(rest.pop(0))
        changed.append(_typed([word] if joined else [word, value], name, _CLOSED, value))
    return changed


def _together(words: Sequence[str | _Typed]) -> list[str | _Typed]:
    """The words with options that are one option here: its value is at the first of them."""
    changed = list(words)
    for leading, others, read in TOGETHER:
        indexes = {word.name: index for index, word in enumerate(changed) if isinstance(word, _Typed)}
        if leading not in indexes:
            continue
        places = [indexes[name] for name in (leading, *others) if name in indexes]
        members = [word for index in places if isinstance(word := changed[index], _Typed)]
        ours = read({word.name: word.value for word in members})
        if ours is None:
            continue
        for index, word in zip(places, members, strict=True):
            note = word.option._replace(note="") if word.ours else word.option
            changed[index] = word._replace(ours=ours, is_complete=True, option=note)
    return changed


def _own_options(command: str) -> Mapping[str, bool]:
    """The options of one of our commands, and whether each takes a value."""
    settings = AccuracySettings if command == "accuracy" else PerfSettings
    return {
        flag: field.kind is not bool
        for field in fields_of(settings).values()
        for flag in (field.flag, *field.declared.flags.split())
    }
