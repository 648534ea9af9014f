"""The process that follows a run for `--abort-on-fail`, and says so when one of its targets is lost.

It is a program of its own with the lowest priority: what it reads and counts takes no time from the run. It
says one line, the id of the target and why it is lost as JSON, and ends. It also ends when its standard input
does: then nobody is there any more to be told.
"""

from __future__ import annotations

import os
import select
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection

    from rulesets.lost import TargetWatch
    from rulesets.ruleset import Ruleset

PAUSE_S: Final = 0.5
"""Between two looks at the log, at least."""

LEAST_PAUSE: Final = 3.0
"""And so many times as long as the look before took."""


class Follower:
    """Holds a log that grows against the targets of a run.

    Args:
        log: It.
        watched: The targets that can be lost.
        rules: Those that they are from.
        planned: No more requests are measured in all; None where only time ends the run.
    """

    def __init__(
        self, log: Path, watched: Collection[TargetWatch], rules: Ruleset, planned: int | None
    ) -> None:
        from reporter.log.following import Following

        self._following = Following(log, rules.definitions)
        self._watched = watched
        self._planned = planned
        self._ended: Counter[str] = Counter()

    def look(self) -> tuple[str, str] | None:
        """Read what is new; the first target that is lost by now, and why."""
        from rulesets.lost import RunState

        for one in self._following.new():
            self._ended[one.how] += 1
            for watch in self._watched:
                watch.add(one.how, one.figures)
        by_end = {how: self._ended[how] for how in ("completed", "failed", "cancelled")}
        so_far = RunState(planned=self._planned, issued=self._following.issued, **by_end)
        reasons = ((watch.target.id, watch.why_lost(so_far)) for watch in self._watched)
        return next(((name, why) for name, why in reasons if why), None)


def watches(rules: Ruleset, skipped: Collection[str] = ()) -> list[TargetWatch]:
    """One watch for each target that can fail a run and be lost before its end.

    Args:
        rules: The rules of the run.
        skipped: Ids and groups of rules that are left out.
    """
    from reporter.log.following import followed
    from rulesets.evaluators.targets import group_of
    from rulesets.lost import TargetWatch, can_be_lost

    figures = followed(rules.definitions)
    return [
        TargetWatch(target, failed_exceed=rules.definitions.failed_requests == "count_as_violation")
        for target in rules.targets
        if target.severity == "fail"
        and not {target.id, group_of(target)} & set(skipped)
        and can_be_lost(target, figures)
    ]


def main(log: Path) -> None:
    """Follow a log until a target is lost, or nobody is there to be told."""
    os.nice(19)
    import orjson

    from reporter.log.settings import settings
    from rulesets.ruleset import Ruleset

    known = settings(log)
    rules = Ruleset.of_dict(known["ruleset"])
    planned = None if known.get("sessions") is not None else known.get("requests")
    follower = Follower(log, watches(rules, known.get("skip", ())), rules, planned)
    pause_s = PAUSE_S
    while not select.select([sys.stdin], [], [], pause_s)[0]:
        started_s = time.monotonic()
        if (found := follower.look()) is not None:
            sys.stdout.write(orjson.dumps(found).decode() + "\n")
            return
        pause_s = max(PAUSE_S, LEAST_PAUSE * (time.monotonic() - started_s))


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except Exception as crash:  # noqa: BLE001 (the run goes on, and a traceback would tear its view)
        sys.exit(f"\nerror: --abort-on-fail: {type(crash).__name__}: {crash}")
