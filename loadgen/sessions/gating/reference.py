"""The rules that a command line names: a built-in ruleset, a file, short forms, or these together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, field, replace
from loadgen.sessions.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loadgen.sessions.gating.given_inputs import PowerReading
    from rulesets.evidence import Accuracy, Evidence
    from rulesets.ruleset import Ruleset

_SUFFIXES: Final = frozenset({".yaml", ".yml", ".json"})


def read_rules(
    require: Sequence[str],
    ruleset: str | Path | None,
    *,
    scenario: str | None = None,
    model: str | None = None,
    load: str | None = None,
    concurrency: int | None = None,
) -> Ruleset | None:
    """The rules of a command line: a ruleset, short expressions, or both; None without any.

    Args:
        require: Targets in the short form, which are added to those of the ruleset.
        ruleset: `NAME`, `NAME@VERSION`, or a file.
        scenario: `SCENARIO` or `MODEL/SCENARIO`; None to choose by what is run.
        model: The endpoint's name of the model.
        load: The kind of load.
        concurrency: How many requests are in flight; None where that is not prescribed.

    Raises:
        RulesetError: One of them cannot be read, or does not say which of its scenarios is meant.
        UsageError: Two of them set the same target, or a scenario of no ruleset is asked for.
    """
    if ruleset is None and scenario is not None:
        raise UsageError(f"--scenario {scenario}: is one of a ruleset; give --ruleset, or leave it out")
    if ruleset is None and not require:
        return None
    from rulesets.ruleset import of_expressions

    if ruleset is None:
        return of_expressions(require)
    from rulesets.loading import load as resolved

    rules = resolved(ruleset, model=model, scenario=scenario, pattern=load, concurrency=concurrency)
    if not require:
        return rules
    further = of_expressions(require)
    twice = {target.id for target in rules.targets} & {target.id for target in further.targets}
    if twice:
        raise UsageError(f"{ruleset} and --require both set {', '.join(sorted(twice))}: omit one")
    return replace(rules, name=f"{rules.name} + command line", targets=rules.targets + further.targets)


def placed(reference: str, folder: Path) -> str:
    """The same reference, with the path of a file relative to a folder; built-in names go before files."""
    from rulesets.catalog import names

    name = reference.partition("@")[0]
    path = folder / Path(reference).expanduser()
    is_named = name in {builtin.partition("@")[0] for builtin in names()}
    looks_like_file = Path(reference).suffix.lower() in _SUFFIXES or "/" in reference
    return str(path) if looks_like_file or (path.is_file() and not is_named) else reference


def require_known(rules: Ruleset | None, skip: Sequence[str]) -> None:
    """Refuse a rule in `--skip` that does not exist, before anything is measured."""
    if not skip:
        return
    if rules is None:
        raise UsageError(f"--skip {skip[0]}: there are no rules to leave out")
    from rulesets.evaluation import require_known as require

    require(skip, rules)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateInputs:
    """The inputs of rules apart from the run's log.

    Attributes:
        others: Further runs of the same configuration, for rules about a change.
        baseline: The runs that changes are measured from.
        skip: Rules that are left out, by id or by group; None for those that were left out when the run was
            started.
        audits: Results of audits by the audits' names; see `rulesets.evaluate`.
        scores: Accuracies by their names, which take precedence over the run's own.
        power: The power that the system drew.
    """

    others: Sequence[Evidence] = ()
    baseline: Sequence[Evidence] = ()
    skip: Sequence[str] | None = None
    audits: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    scores: Mapping[str, Accuracy] = field(default_factory=dict)
    power: PowerReading | None = None
