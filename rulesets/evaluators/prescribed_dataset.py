"""The dataset that the rules prescribe, compared with the one that was used."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from rulesets.evaluators import facts
from rulesets.evaluators.demand import same
from rulesets.evaluators.rule_row import Rule, RuleOutcome
from rulesets.quantity import SCORES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulesets.evaluators.rule_row import Case
    from rulesets.ruleset import Ruleset

KINDS: Final = ("dataset.name", "dataset.perf_samples", "dataset.acc_samples", "dataset.sha256")


def rules(ruleset: Ruleset) -> Iterator[Rule]:
    """One rule for each property of the dataset. A different name fails nothing."""
    wanted = ruleset.dataset
    if wanted.name:
        yield Rule(
            "dataset.name",
            "dataset.name",
            "validity",
            f"dataset: {wanted.name}",
            lambda case: _name(wanted.name, case),
            severity="info",
        )
    if wanted.perf_samples is not None:
        yield Rule(
            "dataset.perf_samples",
            "dataset.perf_samples",
            "validity",
            f"perf_samples: {wanted.perf_samples}",
            lambda case: _perf_samples(wanted.perf_samples or 0, case),
            wanted.perf_samples,
        )
    if wanted.acc_samples is not None:
        yield Rule(
            "dataset.acc_samples",
            "dataset.acc_samples",
            "validity",
            f"acc_samples: {wanted.acc_samples}",
            lambda case: _acc_samples(wanted.acc_samples or 0, case),
            wanted.acc_samples,
        )
    if wanted.sha256:
        yield Rule(
            "dataset.sha256",
            "dataset.sha256",
            "validity",
            f"sha256: {wanted.sha256}",
            lambda case: _sha256(wanted.sha256, case),
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
