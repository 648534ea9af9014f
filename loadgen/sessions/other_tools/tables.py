"""The commands and options of other load generators, from `tables.toml`."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from loadgen.driver.client.protocols import PROTOCOLS, codec_of
from loadgen.sessions.other_tools import values

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class OtherOption(NamedTuple):
    """One option of other tools.

    Attributes:
        tools: The tools with an option of this name.
        ours: Our option, with `{}` for its value; empty where there is none.
        note: The difference, or why it is not needed.
        values: How many values follow it.
        by_value: Our option for particular values, in place of `ours`.
        is_complete: Whether `ours` can be typed as it is, once its value is filled in.
        is_secret: Whether its value is not repeated in the message.
        read: Makes what to type of a value, or None where it cannot; then `ours` is the advice.
    """

    tools: tuple[str, ...]
    ours: str
    note: str = ""
    values: Literal[0, 1, "many"] = 1
    by_value: Mapping[str, str] = {}
    is_complete: bool = True
    is_secret: bool = False
    read: Callable[[str], str | None] | None = None


class OtherCommand(NamedTuple):
    """A command of another tool.

    Attributes:
        tool: The tool.
        ours: Our command.
        options: Options by the names of this tool, before `OTHER_OPTIONS` and our own.
        argument: What to type for an argument, with `{}` for it; empty to leave it out.
        reads_argument: Makes what to type of an argument, in place of `argument`.
        adds: What to type in addition, such as a scenario that the command's name has.
        load: The load where no option gives one.
        scenario: The `--scenario` where none is typed.
    """

    tool: str
    ours: str
    options: Mapping[str, OtherOption] = {}
    argument: str = ""
    reads_argument: Callable[[str], str] | None = None
    adds: str = ""
    load: str = ""
    scenario: str = ""


_TABLES: Final = tomllib.loads(files(__package__).joinpath("tables.toml").read_text(encoding="utf-8"))
_BY_VALUE: Final[Mapping[str, Mapping[str, str]]] = {
    **_TABLES["by_value"],
    "protocols": {
        f"/v1{codec_of(name, {}).path}": f"--protocol {name}"
        for name, entry in PROTOCOLS.items()
        if not entry.rooted
    }
    | _TABLES["by_value"]["paths"],
}


def _option(row: str | Mapping[str, Any], *tools: str) -> OtherOption:
    members: dict[str, Any] = {"ours": row} if isinstance(row, str) else dict(row)
    by_value = members.get("by_value", {})
    read = members.get("read")
    members |= {
        "tools": tuple(members.get("tools", tools)),
        "by_value": _BY_VALUE[by_value] if isinstance(by_value, str) else by_value,
        "read": read and getattr(values, read),
    }
    return OtherOption(**members)


def _command(row: Mapping[str, Any]) -> OtherCommand:
    options, read = _TABLES["options_of"][row["options"]], row.get("reads_argument")
    members = {
        **row,
        "options": {name: _option(option, row["tool"]) for name, option in options.items()},
        "reads_argument": read and getattr(values, read),
    }
    return OtherCommand(**members)


OTHER_OPTIONS: Final[Mapping[str, OtherOption]] = {
    name: _option(row) for name, row in _TABLES["options"].items()
}
"""By the name with hyphens: a name with underscores is the same option."""

OTHER_VALUES: Final[Mapping[str, tuple[str, OtherOption]]] = {
    name: (row.pop("has"), _option(row)) for name, row in _TABLES["values"].items()
}
"""Options that are here too, with a text in their value that only other tools have."""

OTHER_COMMANDS: Final[Mapping[str, OtherCommand]] = {
    name: _command(_TABLES["runs"][run]) for name, run in _TABLES["commands"].items()
}
"""By their first words: without a path, `.py` and the interpreter, and with hyphens for underscores."""

OF_A_PROFILE: Final = OtherOption(("GuideLLM",), "--rate {}", "the values of the profile")
"""`--rate` with a profile: rates, numbers of users, or a number of steps."""
