"""What rules are evaluated with, apart from the run's own log."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loadgen.sessions.gating.power import PowerReading
    from rulesets.evidence import Accuracy, Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class GateInputs:
    """What rules are evaluated with, apart from the run's own log.

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
