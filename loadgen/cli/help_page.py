"""The help of a command: two columns with the common options, or all options with `--help-all`."""

from __future__ import annotations

import re
import shutil
import textwrap
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_COMMON: Final = frozenset(
    {
        *("url", "model", "protocol", "api_key"),
        *("concurrency", "rate", "max_concurrency", "requests", "duration", "warmup"),
        *("prompts", "input_tokens", "output_tokens", "max_tokens"),
        *("percentiles", "verbose", "require", "ruleset", "out", "json", "quiet"),
    }
)
_OF_ACCURACY: Final = frozenset(
    {"data", "samples", "repeats", "scorer", "eval_function", "judge_url", "judge_model"}
)
_OWN_PANELS: Final = frozenset({"Sweep", "Search", "Audit", "Optimization"})
_NARROWEST: Final = 60
_WIDEST: Final = 100
_LEFT: Final = 27
"""Where the text of an option begins."""
_WITHOUT_MARKS: Final = re.compile(r"\[/?bold\]")
_KINDS: Final = {"str": "TEXT", "int": "N", "float": "X", "path": "PATH"}
_LONGEST_CHOICES: Final = 16
_ADDED: Final = {
    "protocol": "protocols",
    "arrival": "arrivals",
    "to": "trackers",
    "report form": "reports",
    "gate form": "verdicts",
    "compare form": "comparisons",
}
"""The kinds of plug-ins that add values to an option, by its name or the command and its name."""


def page(command: Any, context: Any, many: int, *, everything: bool) -> str:
    """The help as text: usage, description, options by panel."""
    width = max(_NARROWEST, min(shutil.get_terminal_size().columns, _WIDEST))
    parameters = [parameter for parameter in command.get_params(context) if not parameter.hidden]
    shown = parameters if everything or len(parameters) <= many else _common(command, parameters)
    parts = [
        f"{_WITHOUT_MARKS.sub('', command.get_usage(context)).strip()}\n",
        *_description(command.help, width),
        *_commands(command, context, width),
    ]
    for panel, options in _panels(shown, merged=len(shown) < len(parameters)):
        parts.append(f"\n{panel}")
        for parameter in options:
            parts += _described(parameter, context, width)
    if len(shown) < len(parameters):
        parts.append(f"\n{len(shown)} of {len(parameters)} options; --help-all shows all.")
    return "\n".join(parts) + "\n"


def _common(command: Any, parameters: Sequence[Any]) -> list[Any]:
    """The most used options of a command, and the options of special panels."""
    names = _COMMON | (_OF_ACCURACY if command.name == "accuracy" else frozenset())
    return [
        parameter
        for parameter in parameters
        if parameter.param_type_name == "argument"
        or parameter.name in {*names, "help", "help_all"}
        or _panel(parameter) in _OWN_PANELS
    ]


def _panel(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return getattr(parameter, "rich_help_panel", None) or "Arguments"
    return getattr(parameter, "rich_help_panel", None) or "Options"


def _panels(parameters: Sequence[Any], *, merged: bool) -> Iterator[tuple[str, list[Any]]]:
    """The options by panel: arguments first, options without a panel last."""
    panels: dict[str, list[Any]] = {}
    for parameter in parameters:
        panel = _panel(parameter)
        is_merged = merged and panel not in {*_OWN_PANELS, "Arguments"}
        panels.setdefault("Common options" if is_merged else panel, []).append(parameter)
    last = panels.pop("Options", None)
    first = panels.pop("Arguments", None)
    if first:
        yield "Arguments", first
    yield from panels.items()
    if last:
        yield "Options", last


def _description(text: str | None, width: int) -> Iterator[str]:
    """The description with filled paragraphs; examples keep the line breaks."""
    for number, paragraph in enumerate((text or "").strip().split("\n\n")):
        words = " ".join(_WITHOUT_MARKS.sub("", paragraph).split())
        is_example = words.startswith("loadgen ")
        if number and not is_example:
            yield ""
        indent = "  " if is_example else ""
        yield textwrap.fill(
            words,
            width,
            initial_indent=indent,
            subsequent_indent=f"{indent}    " if is_example else indent,
            break_on_hyphens=False,
            break_long_words=False,
        )


def _commands(group: Any, context: Any, width: int) -> Iterator[str]:
    """The commands of a group by panel, with the first paragraph of each help; none of a command."""
    panels: dict[str, list[tuple[str, str]]] = {}
    for name in getattr(group, "commands", ()):
        command = group.get_command(context, name)
        first = " ".join(_WITHOUT_MARKS.sub("", command.help or "").strip().partition("\n\n")[0].split())
        panels.setdefault(getattr(command, "rich_help_panel", None) or "Commands", []).append((name, first))
    for panel, commands in panels.items():
        yield f"\n{panel}"
        room = max(len(name) for name, _ in commands) + 4
        for name, first in commands:
            lines = textwrap.wrap(first, width - room, break_on_hyphens=False, break_long_words=False)
            yield f"  {name}".ljust(room) + (f"\n{' ' * room}").join(lines)


def _described(parameter: Any, context: Any, width: int) -> Iterator[str]:
    """One option: names and kind of value on the left, description on the right."""
    label, choices = _label(parameter)
    text = _explained(parameter, context, choices)
    body = textwrap.wrap(text, width - _LEFT, break_on_hyphens=False, break_long_words=False) or [""]
    if len(label) + 4 > _LEFT:
        yield f"  {label}"
    else:
        yield f"  {label}".ljust(_LEFT) + body.pop(0)
    for line in body:
        yield " " * _LEFT + line


def _label(parameter: Any) -> tuple[str, str]:
    """The notation of an option with the kind of value; and a long list of choices."""
    if parameter.param_type_name == "argument":
        kind = parameter.display_type(ctx=None) or ""
        choices = ", ".join(kind.strip("<>[]").split("|")) if "|" in kind and not parameter.metavar else ""
        return parameter.metavar or parameter.name.upper(), choices
    names = sorted((*parameter.opts, *parameter.secondary_opts), key=len)
    if parameter.is_flag:
        return ", ".join(names), ""
    kind = parameter.metavar or parameter.display_type(ctx=None) or ""
    kind = kind.strip("<>")
    if kind.startswith("list["):
        kind = kind.removeprefix("list[").removesuffix("]")
    kind = _KINDS.get(kind, kind)
    if "|" in kind and len(kind) > _LONGEST_CHOICES and parameter.metavar is None:
        return f"{', '.join(names)} NAME", ", ".join(kind.split("|"))
    return f"{', '.join(names)} {kind}", ""


def _explained(parameter: Any, context: Any, choices: str) -> str:
    """The description of an option, with choices, default, and environment variables."""
    record = parameter.get_help_record(context)
    text = record[1] if record else parameter.help or ""
    text = (
        " ".join(_WITHOUT_MARKS.sub("", text).split()).replace("[default: (", "[default: ").replace(")]", "]")
    )
    others = ", ".join(_of_packages(parameter.name, context.command.name))
    choices = f" One of: {choices}." if choices else ""
    return f"{text}{choices}{f' Of other packages: {others}.' if others else ''}"


def _of_packages(option: str, command: str) -> Iterable[str]:
    """The values that other packages add to an option, without importing them."""
    from workloads.registry import added

    kind = _ADDED.get(option) or _ADDED.get(f"{command} {option}")
    return added(kind) if kind else ()
