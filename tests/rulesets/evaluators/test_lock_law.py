"""A locked ruleset cannot be loosened: what passes a file that extends it passes the ruleset."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulesets.errors import RulesetFileError
from rulesets.evaluation import evaluate
from rulesets.evidence import Good
from rulesets.loading import load

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from rulesets.evidence import Evidence
    from rulesets.ruleset import Ruleset

    MakeRun = Callable[..., Evidence]

FORMS: list[dict[str, Any]] = [
    {"metric": "ttft", "stat": "p50", "unit": "ms"},
    {"metric": "ttft", "stat": "p90", "unit": "ms"},
    {"metric": "tpot", "stat": "mean", "unit": "ms"},
    {"metric": "output_tokens", "stat": "mean"},
    {"metric": "qps"},
    {"metric": "error"},
    {"metric": "completed"},
    {"metric": "good", "stat": "fraction", "conditions": ["ttft<1s"]},
]
OPS = {
    "qps": (">", ">="),
    "error": ("<", "<="),
    "good": (">", ">="),
    "completed": ("<", "<=", ">", ">=", "==", "!="),
}
BOUNDS = {"qps": (1, 5, 20), "error": (0.01, 0.1), "good": (0.5, 0.9), "completed": (30, 35, 40)}
PROOFS = {
    "p50": ("effective", "order_stat"),
    "p90": ("order_stat", "early_stopping"),
    "mean": ("batch_means",),
}
SHARES = ("error", "good")
CHANGED = ("op", "value", "severity", "on_missing", "confidence")
"""What a target has in addition to its subject."""
VALIDITY = {
    "min_samples": st.sampled_from([1, 15, 25]),
    "max_error_rate": st.sampled_from([0.0, 0.05, 0.5]),
    "min_duration_s": st.sampled_from([1, 50, 150]),
    "warn": st.lists(st.sampled_from(["min_samples", "max_error_rate", "min_duration_s"]), unique=True),
}


@st.composite
def demands(draw: st.DrawFn, form: Mapping[str, Any]) -> dict[str, Any]:
    """Draw all of a target but what it is about."""
    ops = OPS.get(
        form["metric"], ("<", "<=", ">", ">=") if form["metric"] == "output_tokens" else ("<", "<=")
    )
    members: dict[str, Any] = {
        "op": draw(st.sampled_from(ops)),
        "value": draw(st.sampled_from(BOUNDS.get(form["metric"], (100, 300, 301, 600)))),
        "severity": draw(st.sampled_from(["fail", "fail", "warn"])),
        "on_missing": draw(st.sampled_from(["fail", "inconclusive", "skip"])),
    }
    proofs = ("wilson",) if form["metric"] in SHARES else PROOFS.get(form.get("stat", ""), ())
    method = draw(st.sampled_from([None, None, *proofs]))
    if method is not None:
        members["confidence"] = {"method": method, "level": draw(st.sampled_from([0.5, 0.9, 0.99]))}
        if method == "early_stopping":
            members["confidence"]["form"] = draw(st.sampled_from(["test", "estimate"]))
    return members


@st.composite
def files(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """Draw a locked ruleset, and a file that extends it and changes one thing, so that few are refused."""
    forms = draw(st.lists(st.sampled_from(FORMS), min_size=1, max_size=2, unique_by=str))
    targets = [{"id": f"t{number}", **form, **draw(demands(form))} for number, form in enumerate(forms)]
    validity = {name: draw(values) for name, values in VALIDITY.items()}
    number = draw(st.integers(0, len(forms) - 1))
    child: dict[str, Any] = {}
    match draw(st.sampled_from([*CHANGED, *CHANGED, "validity", "validity", "definitions", "drop", "more"])):
        case "validity":
            name = draw(st.sampled_from(sorted(VALIDITY)))
            child["validity"] = {name: draw(VALIDITY[name].filter(lambda value: value != validity[name]))}
        case "definitions":
            child["definitions"] = {"percentile_method": draw(st.sampled_from(["linear", "lower"]))}
        case "drop":
            child["drop"] = [f"t{number}"]
        case "more":
            more = {"id": "more", "metric": "issued", "op": ">", "value": draw(st.integers(0, 40))}
            child["targets"] = [more]
        case key:
            before = targets[number]
            changed = demands(forms[number]).filter(lambda other: other.get(key) != before.get(key))
            others = {name: value for name, value in before.items() if name != key}
            value = draw(changed).get(key)
            child["targets"] = [others if value is None else others | {key: value}]
    return {"targets": targets, "validity": validity}, child


def ruleset(path: Path, head: Mapping[str, Any], members: Mapping[str, Any]) -> Ruleset | None:
    """Write a file and read it; None where it is refused."""
    name = {"name": path.stem, "version": "1", **head}
    path.write_text(json.dumps({"schema": "rulesets/1", "ruleset": name, **members}))
    try:
        return load(path)
    except RulesetFileError:
        return None


@st.composite
def runs(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a run whose figures lie on either side of the bounds that rulesets are drawn with."""
    n, failed = draw(st.sampled_from([0, 10, 20, 32, 38, 60])), draw(st.sampled_from([0, 0, 1, 4]))
    center, spread = draw(st.sampled_from([50, 200, 300.5, 450, 900])), draw(st.sampled_from([0, 0.1, 40]))
    values = [center + spread * ((7 * index) % 11 - 5) / 5 for index in range(n)]
    return {
        "samples": {"ttft": values, "tpot": values, "output_tokens": values},
        "counts": {"issued": n + failed, "completed": n, "failed": failed},
        "rates": {"qps": draw(st.sampled_from([0.5, 3, 10, 30]))} if n else {},
        "good": Good(int(draw(st.sampled_from([0.3, 0.7, 1.0])) * (n + failed)), n + failed, 100.0),
    }


@pytest.mark.slow
@given(drawn=files(), figures=st.lists(runs(), min_size=5, max_size=5))
def test_what_passes_the_file_passes_what_it_extends(
    drawn: tuple[dict[str, Any], dict[str, Any]],
    figures: list[dict[str, Any]],
    make_run: MakeRun,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """A change is refused, or every rule that passes after it passes before it, and counts as much."""
    folder = tmp_path_factory.getbasetemp()
    parent = ruleset(folder / "locked.yaml", {"locked": True}, drawn[0])
    child = ruleset(folder / "file.yaml", {"extends": "locked.yaml"}, drawn[1])
    if parent is None or child is None:
        return
    for run in (make_run(**run_figures) for run_figures in figures):
        after = {row.id: row for row in evaluate(child, run).rows}
        for row in evaluate(parent, run).rows:
            if after[row.id].status == "PASS":
                assert row.status == "PASS"
            if after[row.id].status == "SKIP":
                assert row.status in {"PASS", "SKIP"}
            assert (row.severity, after[row.id].severity) != ("fail", "warn")


def test_the_law_has_cases(tmp_path: Path) -> None:
    """Of one ruleset some changes are taken and some are refused."""
    target = {"id": "t0", "metric": "ttft", "stat": "p50", "unit": "ms", "op": "<", "value": 300}
    assert ruleset(tmp_path / "locked.yaml", {"locked": True}, {"targets": [target]}) is not None
    for value, taken in ((200, True), (300, True), (301, False)):
        members = {"targets": [target | {"value": value}]}
        assert (ruleset(tmp_path / "file.yaml", {"extends": "locked.yaml"}, members) is not None) == taken
