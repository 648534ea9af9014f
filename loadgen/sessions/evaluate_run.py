"""A run evaluated by the rules that a command line names."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from loadgen.sessions.errors import UsageError
from loadgen.sessions.files.run_folder import require_distinct
from loadgen.sessions.gating.given_inputs import audits_in, power_of, scores_of
from loadgen.sessions.gating.reference import GateInputs, read_rules, require_known
from loadgen.sessions.run.report_of_log import started_with, write_report
from reporter.errors import NotARunError
from reporter.references import evidences, runs_of
from reporter.report_options import ReportOptions
from rulesets.errors import RulesetError
from rulesets.loading import mistake

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.sessions.settings.gate import GateSettings
    from reporter.report import Report
    from reporter.tokens import Tokenizer
    from rulesets.ruleset import Ruleset


def evaluate(
    run: Path,
    settings: GateSettings,
    tokenizer: Tokenizer | None,
    skip: Sequence[str],
    ruleset: Ruleset | None = None,
) -> tuple[Report, Ruleset]:
    """Evaluate a run by the rules of the command line, else by those that it was started with.

    Returns:
        The report with the verdict, which is also written next to the log, and the rules.

    Raises:
        UsageError: No rules are given, or an input that they need is missing.
        LogError, NotARunError, RulesetError: Something cannot be read.
    """
    rules, left_out = rules_of(run, settings) if ruleset is None else (ruleset, ())
    require_known(rules, skip)
    references = [Path(each) for each in settings.baseline] or _of_rules(rules, skip, settings.ruleset)
    require_distinct(
        [run, *(other_run for each in (*settings.also, *references) for other_run in runs_of(each))]
    )
    with ExitStack() as opened:
        inputs = GateInputs(
            others=opened.enter_context(evidences(settings.also, rules.definitions, tokenizer)),
            baseline=opened.enter_context(evidences(references, rules.definitions, tokenizer)),
            audits=audits_in(settings.audit),
            scores=scores_of(settings.accuracy),
            power=power_of(settings.power),
            skip=list(dict.fromkeys([*left_out, *skip])),
        )
        options = ReportOptions(tokenizer=tokenizer, on_invalid=settings.on_invalid)
        return write_report(run, rules, inputs, options), rules


def _of_rules(rules: Ruleset, skip: Sequence[str], ruleset: str | None) -> list[Path]:
    """The baseline runs that rules name; empty where the baseline is left out."""
    named = rules.baseline is not None and rules.baseline.ref
    if not named or "baseline" in skip:
        return []
    try:
        runs_of(Path(named))
    except NotARunError as error:
        why = f"{error}; or give another with --baseline"
        if ruleset is None:
            raise RulesetError(f"the rules in the log of this run: baseline.ref: {why}") from error
        raise mistake(ruleset, "baseline", "ref", why) from error
    return [Path(named)]


def rules_of(run: Path, gate: GateSettings) -> tuple[Ruleset, Sequence[str]]:
    """The rules that a run is evaluated by, and those that were left out when it was started.

    Raises:
        UsageError: No rules are given.
        LogError, RulesetError: They cannot be read.
    """
    from reporter.json_values import members, text, whole
    from reporter.log.settings import settings

    run_settings = settings(run)
    load = members(run_settings.get("load"))
    rules = read_rules(
        gate.require,
        gate.ruleset,
        scenario=gate.scenario,
        model=text(run_settings.get("model")),
        load=text(load.get("kind")),
        concurrency=whole(load.get("concurrency")),
    )
    if rules is not None:
        return rules, ()
    stored_rules, left_out = started_with(run)
    if stored_rules is None:
        raise UsageError("no rules: give --ruleset NAME or FILE, or --require RULE")
    return stored_rules, left_out
