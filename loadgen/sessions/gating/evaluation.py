"""A run held against the rules that a command line names."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from loadgen.sessions.errors import UsageError
from loadgen.sessions.gating.reference import read_rules, require_known

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.sessions.settings.gate import GateSettings
    from reporter.report import Report
    from reporter.tokens import Tokenizer
    from rulesets.ruleset import Ruleset


def judged(
    run: Path,
    given: GateSettings,
    tokenizer: Tokenizer | None,
    skip: Sequence[str],
    ruleset: Ruleset | None = None,
) -> tuple[Report, Ruleset]:
    """Judge a run by the rules of the command line, else by those that it was started with.

    Args:
        run: Its folder, or its log.
        given: What the command line says; of `run` and `skip` only what stands beside.
        tokenizer: Counts tokens where the server sent no counts.
        skip: The rules that are left out, by id or by group.
        ruleset: The rules, in place of those of the command line.

    Returns:
        The report with the verdict, which lies beside the log too, and the rules.

    Raises:
        UsageError: There are no rules, or what they are to be judged with is not there.
        LogError, NotARunError, RulesetError: Something cannot be read.
    """
    from loadgen.sessions.gating.audits import audits_in
    from loadgen.sessions.gating.inputs import GateInputs
    from loadgen.sessions.gating.power import power_of
    from loadgen.sessions.gating.scores import scores_of
    from loadgen.sessions.run.report import write_report
    from loadgen.sessions.run.run_folder import require_distinct
    from reporter.compare.references import evidences, runs_of
    from reporter.report_options import ReportOptions

    rules, left_out = rules_of(run, given) if ruleset is None else (ruleset, ())
    require_known(rules, skip)
    references = [Path(each) for each in given.baseline] or _of_rules(rules, skip, given.ruleset)
    require_distinct([run, *(one for each in (*given.also, *references) for one in runs_of(each))])
    with ExitStack() as opened:
        inputs = GateInputs(
            others=opened.enter_context(evidences(given.also, rules.definitions, tokenizer)),
            baseline=opened.enter_context(evidences(references, rules.definitions, tokenizer)),
            audits=audits_in(given.audit),
            scores=scores_of(given.accuracy),
            power=power_of(given.power),
            skip=list(dict.fromkeys([*left_out, *skip])),
        )
        options = ReportOptions(tokenizer=tokenizer, on_invalid=given.on_invalid)
        return write_report(run, rules, inputs, options), rules


def _of_rules(rules: Ruleset, skip: Sequence[str], ruleset: str | None) -> list[Path]:
    """The runs that rules name to be compared with; none where that is left out.

    Raises:
        RulesetError: They name none that is there; the message names the file and the key.
    """
    named = rules.baseline is not None and rules.baseline.ref
    if not named or "baseline" in skip:
        return []
    from reporter.compare.references import runs_of
    from reporter.errors import NotARunError
    from rulesets.errors import RulesetError
    from rulesets.loading import mistake

    try:
        runs_of(Path(named))
    except NotARunError as error:
        why = f"{error}; or give another with --baseline"
        if ruleset is None:
            raise RulesetError(f"the rules in the log of this run: baseline.ref: {why}") from error
        raise mistake(ruleset, "baseline", "ref", why) from error
    return [Path(named)]


def rules_of(run: Path, given: GateSettings) -> tuple[Ruleset, Sequence[str]]:
    """The rules that a run is held against, and what of them was left out when it was started.

    Raises:
        UsageError: There are none.
        LogError, RulesetError: They cannot be read.
    """
    from loadgen.sessions.run.report import started_with
    from reporter.kinds import members, text, whole
    from reporter.log.settings import settings

    known = settings(run)
    load = members(known.get("load"))
    rules = read_rules(
        given.require,
        given.ruleset,
        scenario=given.scenario,
        model=text(known.get("model")),
        load=text(load.get("kind")),
        concurrency=whole(load.get("concurrency")),
    )
    if rules is not None:
        return rules, ()
    kept, left_out = started_with(run)
    if kept is None:
        raise UsageError("there is nothing to judge by: give --ruleset NAME or FILE, or --require RULE")
    return kept, left_out
