"""The types of keyword arguments in loadgen/options.pyi, for editors and type checkers."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args, get_origin

from loadgen.plugins.tool_selection.optimize_settings import REPLACED as NOT_OPTIMIZED
from loadgen.plugins.tool_selection.optimize_settings import OptimizeSettings
from loadgen.sessions.settings.accuracy import AccuracySettings
from loadgen.sessions.settings.from_python import python_fields
from loadgen.sessions.settings.gate import GateSettings
from loadgen.sessions.settings.perf import PerfSettings
from loadgen.sessions.settings.run import RunSettings
from loadgen.sessions.settings.score import ScoreSettings
from loadgen.sessions.settings.search import REPLACED, SearchSettings
from loadgen.sessions.settings.sweep import SweepSettings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from loadgen.sessions.settings.field import SettingField

_WIDTH: Final = 100
_SESSIONS: Final[Mapping[str, tuple[tuple[type[object], ...], frozenset[str]]]] = {
    "PerfOptions": ((PerfSettings,), frozenset()),
    "AccuracyOptions": ((AccuracySettings,), frozenset({"task"})),
    "SweepOptions": ((PerfSettings, SweepSettings), frozenset()),
    "SearchOptions": ((PerfSettings, SearchSettings), REPLACED),
}
"""By the name of the arguments: the settings that they are made of, the last first, and what is left out."""

_SCORE: Final = ((ScoreSettings,), frozenset({"run"}))
_RUN: Final = ((RunSettings,), frozenset({"suite"}))
_OPTIMIZE: Final = ((PerfSettings, OptimizeSettings), NOT_OPTIMIZED - set(python_fields(OptimizeSettings)))
_GATE: Final = ((GateSettings,), frozenset({"run", "full", "junit", "markdown", "inconclusive"}))

_CALLS: Final = {"GateOptions": "Run"}
_SHARED: Final = {
    "ScoringOptions": "How answers are scored.",
    "SessionOptions": "The options of all functions that measure.",
    "RunOptions": "The options of the functions that make a single run.",
}

_HEAD: Final = '''"""The keyword arguments of `loadgen.perf` and the other functions, as types.

Generated from the settings of the command line: change those, and run `make golden`.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, TypedDict
'''


def source() -> str:
    """The text of `loadgen/options.pyi`."""
    sessions, score, every, scoring, single = _all()
    parts = [
        _HEAD,
        _class("ScoringOptions", "TypedDict", scoring),
        _class("SessionOptions", "ScoringOptions", _without(every, scoring)),
        _class("RunOptions", "SessionOptions", _without(single, every)),
    ]
    for name, fields in sessions.items():
        is_single = single.items() <= fields.items()
        inherited, base = (single, "RunOptions") if is_single else (every, "SessionOptions")
        parts.append(_class(name, base, _without(fields, inherited)))
    parts.append(_class("ScoreOptions", "ScoringOptions", _without(score, scoring)))
    alone = {"GateOptions": _GATE, "OptimizeToolsOptions": _OPTIMIZE, "RunSuiteOptions": _RUN}
    parts += [_class(name, "TypedDict", _fields(*made_of)) for name, made_of in alone.items()]
    return "".join(parts)


class _Fields(NamedTuple):
    """The lines of fields by their names: of each kind of session, of scoring a run, and those in common."""

    sessions: Mapping[str, Mapping[str, str]]
    score: Mapping[str, str]
    every: Mapping[str, str]
    scoring: Mapping[str, str]
    single: Mapping[str, str]


def _all() -> _Fields:
    sessions = {name: _fields(*made_of) for name, made_of in _SESSIONS.items()}
    score, every = _fields(*_SCORE), _common(sessions.values())
    single = _common([sessions["PerfOptions"], sessions["AccuracyOptions"]])
    return _Fields(sessions, score, every, _common([every, score]), single)


def _common(classes: Iterable[Mapping[str, str]]) -> Mapping[str, str]:
    """The fields that all have alike."""
    first, *others = classes
    return {name: lines for name, lines in first.items() if all(each.get(name) == lines for each in others)}


def _without(fields: Mapping[str, str], inherited: Mapping[str, str]) -> Mapping[str, str]:
    return {name: lines for name, lines in fields.items() if name not in inherited}


def _fields(classes: tuple[type[object], ...], left_out: frozenset[str]) -> Mapping[str, str]:
    """The lines of each field by its name."""
    fields = {name: field for each in classes for name, field in python_fields(each).items()}
    return {name: "".join(_lines(field)) for name, field in fields.items() if name not in left_out}


def _class(name: str, base: str, fields: Mapping[str, str]) -> str:
    return f'\nclass {name}({base}, total=False):\n    """{_about(name)}"""\n\n{"".join(fields.values())}'


def _about(name: str) -> str:
    if name in _SHARED:
        return _SHARED[name]
    called = re.sub(r"(?<!^)(?=[A-Z])", "_", name.removesuffix("Options")).lower()
    return f"The keyword arguments of `{_CALLS.get(name, 'loadgen')}.{called}`."


def _lines(field: SettingField) -> Iterator[str]:
    kind = _type(field)
    yield f"    {field.name}: {f'Required[{kind}]' if field.is_required else kind}\n"
    words = " ".join(field.declared.help.replace("\\", "\\\\").split())
    lines = textwrap.wrap(words, _WIDTH, break_long_words=False, break_on_hyphens=False)
    body = "\n    ".join(lines)
    yield f'    """{body}"""\n' if len(lines) == 1 else f'    """{body}\n    """\n'


def _type(field: SettingField) -> str:
    single = _single(field.kind, is_parsed=field.declared.parser is not None)
    if str(field.declared.metavar).startswith("JSON"):
        single += " | Mapping[str, object]"
    if field.is_list:
        single += f" | Sequence[{single}]"
    return single if field.is_required else f"{single} | None"


def _single(kind: Any, *, is_parsed: bool) -> str:
    if get_origin(kind) is Literal:
        return f"Literal[{', '.join(map(_quoted, get_args(kind)))}]"
    if kind is Path:
        return "str | Path"
    if kind is bool:
        return "bool"
    name = str(kind.__name__)
    return name if name == "str" or not is_parsed else f"{name} | str"


def _quoted(choice: object) -> str:
    return f'"{choice}"' if isinstance(choice, str) else repr(choice)
