"""The model and scenario of a ruleset that a run is evaluated by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rulesets.errors import RulesetError, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rulesets.demands import LoadDemand
    from rulesets.extending.chain import ModelEntry

_ANY: Final = "*"
_PATTERNS: Final[Mapping[str, frozenset[str]]] = {
    "closed": frozenset({"concurrency", "closed_loop"}),
    "offline": frozenset({"all_at_once"}),
    "gamma": frozenset({"burst"}),
}
"""The load patterns of rules that a kind of load matches; any other kind matches the pattern of its name."""


def choose(
    title: str,
    entries: Sequence[ModelEntry],
    load_of: Callable[[str, str], LoadDemand | None],
    *,
    model: str | None = None,
    scenario: str | None = None,
    pattern: str | None = None,
    concurrency: int | None = None,
) -> tuple[str, str]:
    """Choose a model and a scenario.

    Raises:
        RulesetError: No model or scenario fits, or several do; the message lists them.
    """
    wanted = scenario
    if scenario is not None and "/" in scenario and not _with(entries, scenario):
        model, _, wanted = scenario.rpartition("/")
        if not called(entries, model):
            raise RulesetError(f"{title} has no model {model!r}; {suggestion(model, _names(entries))}")
    candidates = _models(entries, model)
    if not candidates:
        raise RulesetError(
            f"{title} has no rules for the model {model!r}; {suggestion(model or '', _names(entries))} "
            "Say which with --scenario MODEL/SCENARIO"
        )
    pairs = [(entry.name, scenario_name) for entry in candidates for scenario_name in entry.scenarios]
    if wanted is not None:
        scenarios = list(dict.fromkeys(scenario_name for _, scenario_name in pairs))
        pairs = [
            (name, scenario_name) for name, scenario_name in pairs if scenario_name.lower() == wanted.lower()
        ]
        if not pairs:
            of = f" for the model {model!r}{_as_any(candidates)}" if model else ""
            raise RulesetError(f"{title} has no scenario {wanted!r}{of}; {suggestion(wanted, scenarios)}")
    if len(pairs) > 1 and pattern is not None:
        alike = _PATTERNS.get(pattern, frozenset({pattern}))
        pairs = [pair for pair in pairs if (load := load_of(*pair)) and load.pattern in alike] or pairs
    if len(pairs) > 1 and concurrency is not None:
        pairs = _of_size(pairs, load_of, concurrency)
    if len(pairs) > 1:
        listed = ", ".join("/".join(pair) for pair in pairs)
        raise RulesetError(
            f"{title} has several scenarios that this could be; choose with --scenario: {listed}"
        )
    return pairs[0]


def _models(entries: Sequence[ModelEntry], model: str | None) -> Sequence[ModelEntry]:
    """The models that a name can mean: by name, else by alias, else `*`; all models without a name."""
    if model is None:
        return entries
    return called(entries, model) or [entry for entry in entries if entry.name == _ANY]


def _of_size(
    pairs: Sequence[tuple[str, str]], load_of: Callable[[str, str], LoadDemand | None], concurrency: int
) -> list[tuple[str, str]]:
    """The entries with a range around the concurrency, else those without a range, else all."""
    ranges = {pair: load.concurrency if (load := load_of(*pair)) else {} for pair in pairs}
    inside = [
        pair
        for pair, bounds in ranges.items()
        if bounds and bounds.get("min", 1) <= concurrency <= bounds.get("max", concurrency)
    ]
    return inside or [pair for pair, bounds in ranges.items() if not bounds] or list(pairs)


def called(entries: Sequence[ModelEntry], model: str) -> Sequence[ModelEntry]:
    """The entries for a model's name: by full name or last part, else by alias."""
    meant = {model.lower(), _last(model)}
    by_name = [entry for entry in entries if meant & {entry.name.lower(), _last(entry.name)}]
    return by_name or [
        entry
        for entry in entries
        if meant & {form for alias in entry.aliases for form in (alias.lower(), _last(alias))}
    ]


def _as_any(candidates: Sequence[ModelEntry]) -> str:
    return " (without separate rules)" if all(entry.name == _ANY for entry in candidates) else ""


def _with(entries: Sequence[ModelEntry], scenario: str) -> bool:
    return any(candidate.lower() == scenario.lower() for entry in entries for candidate in entry.scenarios)


def _names(entries: Sequence[ModelEntry]) -> Sequence[str]:
    return [name for entry in entries for name in (entry.name, *entry.aliases) if name != _ANY]


def _last(model: str) -> str:
    """The last part of a path: `Llama-3.1-8B` of `meta-llama/Llama-3.1-8B`."""
    return model.rstrip("/").rpartition("/")[2].lower()
