"""Warnings before a run: its rules name a score that it will not have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workloads.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from rulesets.ruleset import Ruleset


def without_score(rules: Ruleset, accuracy: Mapping[str, Any], skip: Collection[str]) -> Iterator[str]:
    """The rules that need a score that no task of the run has, a sentence each.

    Args:
        rules: The rules of the run.
        accuracy: The facts on benchmarks in its log.
        skip: The rules that are left out, by id or by group.
    """
    from rulesets.quantity import SCORES
    from rulesets.scores import named

    there, tasks = named(list(_expected(accuracy))), [str(task["name"]) for task in accuracy["tasks"]]
    for target in rules.targets:
        name = target.metric.removeprefix(SCORES)
        fails = target.severity == "fail" and target.on_missing != "skip"
        if name == target.metric or not fails or {target.id, "accuracy"} & set(skip) or name in there:
            continue
        instead = did_you_mean(name, there) or f"; it scores {', '.join(tasks)}"
        yield f"the run will have no score {name!r}, which {target.id} needs{instead}"


def _expected(accuracy: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """`accuracy` of the future report, with the names alone."""
    from reporter.accuracy.definitions import defined
    from reporter.accuracy.repeated import pass_figures
    from reporter.accuracy.task_score import HeadlineFigure, TaskScore

    pass_at, hat, _ = pass_figures([(accuracy["repeats"], 0, 1)])
    for task_facts in accuracy["tasks"]:
        task, name = str(task_facts["task"]), str(task_facts["name"])
        own = accuracy["scorers"].get(task)
        for scorer in (*([] if own is None else [own]), *accuracy["evals"]):
            definition = defined(name, scorer)
            figures = {
                headline.name: HeadlineFigure(
                    None, None, headline.unit, headline.better, None, None, None, None
                )
                for headline in definition.headlines
            }
            yield TaskScore(
                task=task,
                name=name,
                scorer=scorer,
                version=None,
                definition="",
                judge="",
                judge_model=None,
                official=definition.official,
                pass_=None,
                issued=0,
                headlines=figures,
                pass_at=pass_at,
                pass_hat=hat,
            ).to_dict()
