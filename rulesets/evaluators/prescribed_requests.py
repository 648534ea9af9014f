"""The dataset, the settings of requests and the seeds that the rules prescribe, compared with those used."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from rulesets.errors import Unanswerable
from rulesets.evaluators import facts
from rulesets.evaluators.demand import same
from rulesets.evaluators.rule_row import Rule, RuleOutcome
from rulesets.quantity import SCORES
from rulesets.value_text import in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rulesets.evaluators.rule_row import Case
    from rulesets.ruleset import Ruleset

KINDS: Final = (
    *("dataset.name", "dataset.perf_samples", "dataset.acc_samples", "dataset.sha256", "generation.setting"),
    *("seeds.sample_index", "seeds.schedule", "seeds.model"),
)
_MEMBERS: Final = {"max_new_tokens": "max_tokens", "min_new_tokens": "min_tokens"}
"""Settings that a request spells otherwise."""

_OPTIONS: Final = {"max_tokens": "--max-tokens", "temperature": "--temperature"}


def rules(ruleset: Ruleset) -> Iterator[Rule]:
    """One rule for each property of the dataset, each setting of requests, and each seed."""
    yield from _dataset_rules(ruleset)
    yield from _setting_rules(ruleset)
    yield from _seed_rules(ruleset)


def _setting_rules(ruleset: Ruleset) -> Iterator[Rule]:
    """One rule per setting. A different value makes the run invalid only where settings are locked."""
    of_a_run = prescribed_settings(ruleset)
    for name in ruleset.generation.settings:
        yield (
            _setting_rule(name, of_a_run[name], ruleset)
            if name in of_a_run
            else Rule(f"generation.{name}", "generation.setting", "validity", name, _of_accuracy)
        )


def _setting_rule(name: str, wanted: object, ruleset: Ruleset) -> Rule:
    return Rule(
        id=f"generation.{name}",
        kind="generation.setting",
        group="validity",
        text=f"{name}: {in_words(wanted)}",
        evaluate=lambda case: evaluate_setting(name, wanted, case),
        severity="fail" if ruleset.generation.locked else "warn",
    )


def _of_accuracy(case: Case) -> RuleOutcome:
    del case
    return RuleOutcome("SKIP", reason="the rules say it of accuracy runs only")


def prescribed_settings(ruleset: Ruleset) -> Mapping[str, Any]:
    """The settings of a performance run."""
    return {
        name: wanted["performance"] if hasattr(wanted, "get") else wanted
        for name, wanted in ruleset.generation.settings.items()
        if not hasattr(wanted, "get") or "performance" in wanted
    }


def evaluate_setting(name: str, wanted: object, case: Case) -> RuleOutcome:
    """Evaluate one setting.

    Raises:
        Unanswerable: The report does not have the settings of requests.
    """
    member = _MEMBERS.get(name, name)
    asked = _asked(case.report)
    if asked is None:
        raise Unanswerable(
            "the report does not say what each request asked for", "evaluate the run's log, which does"
        )
    how = f"{_OPTIONS[member]} {wanted}" if member in _OPTIONS else _in_body(case.ruleset)
    return same(f"the request's {member}", _listed(asked.get(member)), _listed(wanted), remedy=f"ask: {how}")


def _in_body(ruleset: Ruleset) -> str:
    """The option for members without a dedicated option; to be given only once."""
    named = {_MEMBERS.get(name, name): wanted for name, wanted in prescribed_settings(ruleset).items()}
    members = {name: wanted for name, wanted in named.items() if name not in _OPTIONS}
    seed = {"seed": ruleset.seeds["model"]} if "model" in ruleset.seeds else {}
    return f"--extra-body '{json.dumps(members | seed, default=list)}'"


def _listed(value: object) -> object:
    """The JSON form of a value: a tuple becomes a list."""
    return list(value) if isinstance(value, tuple) else value


def _asked(report: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The members of each request."""
    members = facts.run(report).get("generation")
    return members if hasattr(members, "get") else None


def _dataset_rules(ruleset: Ruleset) -> Iterator[Rule]:
    """One rule for each property of the dataset. A different name fails nothing."""
    for key, (label, evaluate) in _DATASET.items():
        wanted = getattr(ruleset.dataset, key)
        if wanted not in {None, ""}:
            yield Rule(
                id=f"dataset.{key}",
                kind=f"dataset.{key}",
                group="validity",
                text=f"{label}: {wanted}",
                evaluate=lambda case, evaluate=evaluate, wanted=wanted: evaluate(wanted, case),  # type: ignore[misc]
                bound=None if isinstance(wanted, str) else wanted,
                severity="info" if key == "name" else "fail",
            )


def _name(wanted: str, case: Case) -> RuleOutcome:
    dataset_name = facts.section(case.report, "run", "dataset").get("name")
    named = isinstance(dataset_name, str) and wanted.casefold() in {
        dataset_name.casefold(),
        PurePath(dataset_name).stem.casefold(),
    }
    return same(
        "the name of the dataset",
        wanted if named else dataset_name,
        wanted,
        remedy="check that it is the dataset that the rules mean: file names vary",
    )


def _perf_samples(wanted: int, case: Case) -> RuleOutcome:
    rows = facts.rows(case.report)
    remedy = "ask from the whole dataset that the rules name: --prompts FILE"
    outcome = same("the number of rows of the dataset", rows, wanted, remedy=remedy)
    return RuleOutcome(
        outcome.status, rows, rows or 0, outcome.method, reason=outcome.reason, remedy=outcome.remedy
    )


def _acc_samples(wanted: int, case: Case) -> RuleOutcome:
    """The samples of the scores that the targets name; a target without a score fails separately."""
    names = {target.metric for target in case.ruleset.targets if target.metric.startswith(SCORES)}
    scores = [case.run.accuracy(name.removeprefix(SCORES)) for name in sorted(names)]
    sizes = [score.n for score in scores if score is not None]
    if not sizes:
        return RuleOutcome("SKIP", reason="the run has no score")
    fewest = min(sizes)
    if fewest >= wanted:
        return RuleOutcome("PASS", fewest, fewest, "samples behind a score")
    return RuleOutcome(
        "INVALID",
        fewest,
        fewest,
        "samples behind a score",
        reason=f"a score has {fewest:,} samples; required: {wanted:,}",
        remedy="run its benchmark over the whole dataset",
    )


def _sha256(wanted: str, case: Case) -> RuleOutcome:
    digest = facts.section(case.report, "run", "dataset").get("sha256") or None
    return same(
        "the sha256 of the dataset",
        digest.lower() if isinstance(digest, str) else None,
        wanted.lower(),
        remedy="ask from the file that the rules name: --prompts FILE",
    )


_DATASET: Final[Mapping[str, tuple[str, Callable[[Any, Case], RuleOutcome]]]] = {
    "name": ("dataset", _name),
    "perf_samples": ("perf_samples", _perf_samples),
    "acc_samples": ("acc_samples", _acc_samples),
    "sha256": ("sha256", _sha256),
}
"""The properties of the dataset: what each is called, and how it is evaluated."""


def _seed_rules(ruleset: Ruleset) -> Iterator[Rule]:
    """One rule per seed."""
    for name, wanted in ruleset.seeds.items():
        yield Rule(
            id=f"seeds.{name}",
            kind=f"seeds.{name}",
            group="validity",
            text=f"{name}: {wanted}",
            evaluate=lambda case, name=name, wanted=wanted: evaluate_seed(name, wanted, case),  # type: ignore[misc]
        )


def evaluate_seed(name: str, wanted: int, case: Case) -> RuleOutcome:
    """Evaluate one seed."""
    if name not in _USED:
        return RuleOutcome("SKIP", reason="the run has no library of samples to draw from")
    used, option = _USED[name]
    if name == "schedule" and facts.load(case.report).get("kind") in {"closed", "offline"}:
        return RuleOutcome("SKIP", reason="the load has no schedule that a seed could draw")
    how = f"use it: {option.format(wanted)}" if option else f"ask: {_in_body(case.ruleset)}"
    return same(f"the {name} seed", used(case.report), wanted, remedy=how)


def _seed(report: Mapping[str, Any]) -> object:
    return facts.run(report).get("seed")


def _schedule(report: Mapping[str, Any]) -> object:
    seed = facts.run(report).get("schedule_seed")
    return _seed(report) if seed is None else seed


def _model(report: Mapping[str, Any]) -> object:
    return facts.section(report, "run", "generation").get("seed")


_USED: Final[Mapping[str, tuple[Callable[[Mapping[str, Any]], object], str]]] = {
    "sample_index": (_seed, "--seed {}"),
    "schedule": (_schedule, "--schedule-seed {}"),
    "model": (_model, ""),
}
"""Where the report has each seed, and the option that sets it; a member of each request without an option."""
