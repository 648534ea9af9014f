"""A ruleset as text."""

from __future__ import annotations

from dataclasses import asdict
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

from rulesets.demands import AuditDemand, DatasetDemand, SteadyStateDemand, ValidityDemand
from rulesets.expression import described
from rulesets.reading.section_rules import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rulesets.loading import Book
    from rulesets.ruleset import Ruleset
    from rulesets.target import Target

_WIDTH: Final = 110


def overview(book: Book) -> Iterator[str]:
    """One line per model and scenario."""
    yield _title(book.name, book.version, locked=book.locked)
    places = {f"{model}/{scenario}": ruleset for (model, scenario), ruleset in book.rulesets.items()}
    width = max(map(len, places))
    for place, ruleset in places.items():
        yield f"  {place:<{width}}  {_short(ruleset)}".rstrip()
    yield f"Show a single scenario with --scenario MODEL/SCENARIO, e.g. --scenario '{next(iter(places))}'"


def one_ruleset(ruleset: Ruleset) -> Iterator[str]:
    """All of a ruleset, section by section; empty sections are left out."""
    place = f"{ruleset.model}/{ruleset.scenario}" if ruleset.scenario else ""
    yield _title(ruleset.name, ruleset.version, place, locked=ruleset.locked)
    for name, section in _sections(ruleset).items():
        if section:
            yield from wrap(f"{name:<13} {shown(section)}", _WIDTH, subsequent_indent=" " * 14)
    if ruleset.targets:
        yield "targets"
        width = max(len(target.id) for target in ruleset.targets)
        for target in ruleset.targets:
            yield from _target(target, width)
    for name in ("overrides", "notes", "source"):
        lines = getattr(ruleset, name)
        if lines:
            yield name
        for line in lines:
            yield from wrap(line, _WIDTH, initial_indent="  - ", subsequent_indent="    ")


def _title(name: str, version: str, place: str = "", *, locked: bool) -> str:
    return f"{name} {version}".rstrip() + f": {place}" * bool(place) + " (locked)" * locked


def _short(ruleset: Ruleset) -> str:
    """The targets of a ruleset in one line, without informational figures and accuracy."""
    shown = [
        described(target)
        for target in ruleset.targets
        if target.severity != "info" and not target.metric.startswith("accuracy.")
    ]
    scores = sum(target.metric.startswith("accuracy.") for target in ruleset.targets)
    load = [] if ruleset.load is None else [ruleset.load.pattern]
    return ", ".join([*load, *shown, *[f"accuracy ({scores})"] * bool(scores)])


def _sections(ruleset: Ruleset) -> Mapping[str, Any]:
    """The contents of each section to show; empty if absent."""
    locked = {"locked": True} if ruleset.generation.locked else {}
    return {
        "definitions": _without_defaults(asdict(ruleset.definitions)),
        "seeds": {name: str(seed) for name, seed in ruleset.seeds.items()},
        "load": {} if ruleset.load is None else _without_defaults(_flat(asdict(ruleset.load), "others")),
        "dataset": _without_defaults(asdict(ruleset.dataset), asdict(DatasetDemand())),
        "generation": {**ruleset.generation.settings, **locked},
        "validity": _without_defaults(asdict(ruleset.validity), asdict(ValidityDemand())),
        "audit": "; ".join(map(_audit, ruleset.audits)),
        "steady_state": _without_defaults(asdict(ruleset.steady_state), asdict(SteadyStateDemand())),
        "baseline": {} if ruleset.baseline is None else _without_defaults(asdict(ruleset.baseline)),
        "sweep": "" if ruleset.sweep is None else _sweep(asdict(ruleset.sweep)),
        "power": ruleset.power,
        "report": ruleset.report,
    }


def _audit(audit: AuditDemand) -> str:
    return f"{audit.name} ({shown(audit.parameters)})" if audit.parameters else audit.name


def _flat(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The values, with those of the mapping `name` merged in."""
    return {**{key: value for key, value in values.items() if key != name}, **values[name]}


def _sweep(sweep: Mapping[str, Any]) -> str:
    parts = {
        name: shown(_without_defaults(value)) for name, value in sweep.items() if name != "checks" and value
    }
    checks = [name if value is None else f"{name} {shown(value)}" for name, value in sweep["checks"]]
    return "; ".join([*(f"{name} {value}" for name, value in parts.items()), *checks])


def _without_defaults(
    values: Mapping[str, Any], silent: Mapping[str, Any] | None = None
) -> Mapping[str, Any]:
    """The values that differ from the defaults."""
    nothing = silent or {}
    return {name: value for name, value in values.items() if value not in (None, "", {}, nothing.get(name))}


def _target(target: Target, width: int) -> Iterator[str]:
    written = described(target)
    lenient = "" if target.on_missing == "fail" else f"  missing: {target.on_missing}"
    named = "" if target.id == written else f"{target.id:<{width}}  "
    yield f"  {named}{written}{lenient}"
    for line in (target.note, target.source):
        yield from wrap(line, _WIDTH, initial_indent="      ", subsequent_indent="      ")
