"""The options of the verdict: what a run is evaluated by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal

from lazy_dataclasses import dataclass
from loadgen.sessions.settings.kinds import Rule
from loadgen.sessions.settings.option import GENERAL, Panel
from rulesets.exit_codes import PRECEDENCE, ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

RULES: Final = Panel("Rules")

Inconclusive = Literal["pass", "fail", "0", "1", "5"]
"""The exit code of an inconclusive verdict: 0 as if passed, 1 as if failed, or its own code."""

_INCONCLUSIVE: Final[Mapping[str, ExitCode]] = {
    **dict.fromkeys(("pass", "0"), ExitCode.PASS),
    **dict.fromkeys(("fail", "1"), ExitCode.FAIL),
    "5": ExitCode.INCONCLUSIVE,
}


def exit_code(status: str, inconclusive: str = "5") -> int:
    """The exit code of a verdict."""
    from rulesets.verdict import EXIT_CODES

    codes = {str(name): code for name, code in EXIT_CODES.items()}
    return (codes | {"INCONCLUSIVE": _INCONCLUSIVE[inconclusive]})[status]


def most_severe(codes: Iterable[int]) -> int:
    """The exit code of several together; that of none is 0."""
    distinct = set(codes)
    return next((code for code in PRECEDENCE if code in distinct), max(distinct, default=ExitCode.PASS))


_HELP: Final = "If only the client invalidated the run: fail (exit 4), or warn and evaluate the run anyway."
ON_INVALID: Final = f"{_HELP} Default: as the run was started."

OnInvalid = Annotated[Literal["fail", "warn"] | None, GENERAL.declares(ON_INVALID)]
"""The option for a run that is over: None for what it was started with."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleSettings:
    """The rules of a verdict."""

    require: list[Rule] = RULES.option(
        "A target, e.g. 'ttft:p(99)<500ms', in addition to a ruleset's; repeatable. Exit 1 if missed.",
        [],
        stored=False,
    )
    ruleset: str | None = RULES.option(
        "A ruleset: NAME[@VERSION] (see loadgen list rulesets) or a YAML file.",
        metavar="NAME|FILE",
        stored=False,
    )
    scenario: str | None = RULES.option(
        "The scenario of the ruleset. Default: the one for the run's model and load.",
        metavar="[MODEL/]SCENARIO",
        stored=False,
    )
    skip: list[str] = RULES.option(
        "Skip a rule or a group of rules; the verdict lists skipped rules. Repeatable.",
        [],
        metavar="ID|GROUP",
        stored=False,
    )
    inconclusive: Inconclusive = RULES.option(
        "The exit code of an inconclusive verdict: 0 (pass), 1 (fail), or 5.", "5"
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class VerdictSettings(RuleSettings):
    """The options of a run's own verdict."""

    abort_on_fail: bool = RULES.switch(
        "End the run, with exit 1, as soon as a target is certain to be missed."
    )
    on_invalid: Literal["fail", "warn"] = RULES.option(_HELP, "fail")
