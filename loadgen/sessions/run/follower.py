"""The process that follows a run for `--abort-on-fail`, and reports the first target that is certainly lost.

It is a separate program with the lowest priority and a small share of one core, so that the run keeps its
time. It writes one line, the id of the target and why it is lost as JSON, and ends. It also ends when its
standard input does: then no process is left to read that line.
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

    from reporter.live.growing_log import GrowingLog
    from rulesets.early_failure import TargetWatch
    from rulesets.ruleset import Ruleset

PAUSE_S: Final = 2.0
"""The least time between two looks at the log."""

CPU_SHARE: Final = 0.05
"""The most of one core that the looks take; the pauses grow with their CPU time."""


class Follower:
    """Evaluates the targets of a run on the growing log."""

    def __init__(self, log: GrowingLog, watched: Collection[TargetWatch], planned: int | None) -> None:
        self._log = log
        self._watched = watched
        self._planned = planned
        self._endings: Counter[str] = Counter()

    def look(self) -> tuple[str, str] | None:
        """Read new events; the first target lost so far, with the reason."""
        from rulesets.early_failure import RunState

        for request in self._log.ended():
            self._endings[request.ending] += 1
            for watch in self._watched:
                watch.add(request.ending, request.figures)
        by_ending = {ending: self._endings[ending] for ending in ("completed", "failed", "cancelled")}
        state = RunState(planned=self._planned, issued=self._log.issued, **by_ending)
        reasons = ((watch.target.id, watch.failed_because(state)) for watch in self._watched)
        return next(((name, reason) for name, reason in reasons if reason), None)


def metrics_of(watched: Collection[TargetWatch]) -> frozenset[str]:
    """The metrics that these targets need."""
    return frozenset().union(*(watch.metrics for watch in watched))


def watches(rules: Ruleset, skipped: Collection[str] = ()) -> list[TargetWatch]:
    """One watch for each target that can fail a run and be lost before the end."""
    from reporter.live.growing_log import followed_metrics
    from rulesets.early_failure import TargetWatch, can_be_lost
    from rulesets.evaluators.targets import group_of

    figures = followed_metrics(rules.definitions)
    return [
        TargetWatch(target, failed_exceed=rules.definitions.failed_requests == "count_as_violation")
        for target in rules.targets
        if target.severity == "fail"
        and not {target.id, group_of(target)} & set(skipped)
        and can_be_lost(target, figures)
    ]


def main(path: Path) -> None:
    """Follow a log until a target is lost, or standard input ends."""
    os.nice(19)
    import orjson

    from reporter.live.growing_log import GrowingLog
    from reporter.log.settings import settings
    from rulesets.ruleset import Ruleset

    stored = settings(path)
    rules = Ruleset.of_dict(stored["ruleset"])
    planned = None if stored.get("sessions") is not None else stored.get("requests")
    watched = watches(rules, stored.get("skip", ()))
    with GrowingLog(path, rules.definitions, metrics_of(watched)) as log:
        follower = Follower(log, watched, planned)
        pause_s = PAUSE_S
        while not select.select([sys.stdin], [], [], pause_s)[0]:
            started_s = time.process_time()
            if (lost := follower.look()) is not None:
                sys.stdout.write(orjson.dumps(lost).decode() + "\n")
                return
            pause_s = max(PAUSE_S, (time.process_time() - started_s) / CPU_SHARE)


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except Exception as crash:  # noqa: BLE001 (the run goes on, and a traceback would tear its view)
        sys.exit(f"\nerror: --abort-on-fail: {type(crash).__name__}: {crash}")
