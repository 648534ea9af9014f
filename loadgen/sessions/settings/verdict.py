"""The options of the verdict: what a run is evaluated by."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from loadgen.sessions.settings.on_invalid import HELP
from loadgen.sessions.settings.option import RESULT, Option
from loadgen.sessions.settings.task_names import canonical_rule
from loadgen.sessions.verdict_exit import Inconclusive


@dataclass(frozen=True, kw_only=True, slots=True)
class VerdictSettings:
    """Options of the verdict."""

    require: Annotated[
        list[str],
        Option(
            parser=canonical_rule,
            metavar="RULE",
            help="A target, e.g. 'ttft:p(99)<500ms'; repeatable. Exit 1 if missed.",
            panel=RESULT,
        ),
    ] = field(default_factory=list)
    ruleset: Annotated[
        str | None,
        Option(
            metavar="NAME|FILE",
            help="A ruleset: NAME[@VERSION] (see loadgen list rulesets) or a YAML file.",
            panel=RESULT,
        ),
    ] = None
    scenario: Annotated[
        str | None,
        Option(
            metavar="[MODEL/]SCENARIO",
            help="The scenario of the ruleset. Default: the one for this model and this load.",
            panel=RESULT,
        ),
    ] = None
    skip: Annotated[
        list[str],
        Option(
            metavar="ID|GROUP",
            help="Skip a rule or a group of rules; the verdict lists skipped rules. Repeatable.",
            panel=RESULT,
        ),
    ] = field(default_factory=list)
    abort_on_fail: Annotated[
        bool,
        Option(
            "--abort-on-fail",
            help="End the run, with exit 1, as soon as a target is certain to be missed.",
            panel=RESULT,
        ),
    ] = False
    inconclusive: Annotated[
        Inconclusive,
        Option(help="The exit code of an inconclusive verdict: 0 (pass), 1 (fail), or 5.", panel=RESULT),
    ] = "5"
    on_invalid: Annotated[
        Literal["fail", "warn"],
        Option(help=HELP, panel=RESULT),
    ] = "fail"
