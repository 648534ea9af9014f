"""The options of `loadgen perf` in a file: by long name, with values of TOML and YAML.

What an option is comes from `PerfSettings` alone: its type, its choices, and the function that reads its text
on the command line. A new option of `loadgen perf` is a key of a suite without a word more.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from loadgen.sessions.settings.concerns import fields_of
from loadgen.sessions.settings.perf import PerfSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.sessions.settings.field import SettingField

_ELSEWHERE: Final[Mapping[str, str]] = {
    "model": "only [[models]] says which model is asked",
    "api_key": "a key does not belong into a file: name the environment variable that holds it, "
    'e.g. api_key_env = "MY_KEY"',
    "header": "the values of headers are often secrets: name the environment variables that hold them, "
    'e.g. headers_env = { "X-Team" = "MY_TEAM" }',
    "judge_api_key": "a key does not belong into a file: LOADGEN_JUDGE_API_KEY of the environment holds it",
    "user_api_key": "a key does not belong into a file: LOADGEN_USER_API_KEY of the environment holds it",
    "out": "the folder of all runs is out in [run], or --out",
    "output": "a file is of one run: use sample_results",
    "json": "that is --json of loadgen run",
    "quiet": "that is --quiet of loadgen run",
    "no_live": "that is --no-live of loadgen run",
    "summary": "`loadgen report RUN --summary` prints one",
    "verbose": "`loadgen report RUN --verbose` prints one",
    "trace_detail": "`loadgen report RUN --trace-detail` prints one",
}
"""Options of `loadgen perf` that no table takes, and what to do instead."""


@cache
def options() -> Mapping[str, SettingField]:
    """Every option of a table, by name with `_`."""
    return {name: field for name, field in fields_of(PerfSettings).items() if name not in _ELSEWHERE}


def elsewhere(name: str) -> str | None:
    """The replacement of an option in a table; None for an unknown option."""
    return _ELSEWHERE.get(name)


def variables() -> Mapping[str, tuple[str, ...]]:
    """The environment variables of an option, by name, in order of precedence."""
    fields = fields_of(PerfSettings)
    return {name: field.declared.envvar for name, field in fields.items() if field.declared.envvar}
