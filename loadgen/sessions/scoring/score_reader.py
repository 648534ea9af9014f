"""The process that scores a run while it runs, with the lowest priority and a small share of one core.

    python -m loadgen.sessions.scoring.score_reader LOG

It writes a JSON line per look at the log, `{TASK: [answers, mean]}`, until standard input ends. Scorers that
ask a judge or run programs are left to the scoring pass, whose scores are the ones that count.
"""

from __future__ import annotations

import os
import select
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from loadgen.sessions.scoring.running_score import tasks_of
from loadgen.sessions.settings.scoring_choices import ScoringChoices

if TYPE_CHECKING:
    from loadgen.sessions.scoring.choice import Chosen
    from loadgen.sessions.scoring.grader import Result

PAUSE_S: Final = 3.0
"""The least time between two looks at the log."""

CPU_SHARE: Final = 0.05
"""The most of one core that the looks take; the pauses grow with their CPU time."""

_MISSING: Final = """
    SELECT task, count(*) FROM asked JOIN questions USING (prompt_id)
    WHERE unscored = 'missing' GROUP BY task"""


class AnswerScorer:
    """Scores the answers of a growing log, each once."""

    def __init__(self, log: Path) -> None:
        from loadgen.sessions.scoring.site import Here

        self._log = log
        self._chosen = plain_scorers(log)
        self._sums: dict[str, list[float]] = {chosen.task: [0, 0.0] for chosen in self._chosen}
        self._seen: set[str] = set()
        self._grader = Here(ScoringChoices(processes=1)).graders(self._chosen, 0, 1)[0]

    def look(self) -> dict[str, tuple[int, float]]:
        """Score the new answers; the number of answers of each task so far, and their mean."""
        from loadgen.sessions.scoring.grading_work import Grading
        from reporter.log.database import open_log
        from reporter.stored_answers import stored_answers, texts_of

        numbers = {chosen.task: number for number, chosen in enumerate(self._chosen)}
        with open_log(self._log) as log, texts_of(self._log) as read:
            new = {
                stored.sample_uuid: stored
                for batch in stored_answers(log, 0, read)
                for stored in batch
                if stored.task in numbers and stored.sample_uuid not in self._seen
            }
            missing = dict(log.execute(_MISSING).fetchall())
        self._seen.update(new)

        def add(results: list[Result]) -> None:
            for result in results:
                if result.value is not None:
                    sums = self._sums[new[result.sample_uuid].task]
                    sums[0] += 1
                    sums[1] += result.value

        self._grader.grade([Grading(stored, numbers[stored.task]) for stored in new.values()], add)
        counts = {task: int(count) + missing.get(task, 0) for task, (count, _) in self._sums.items()}
        return {task: (counts[task], total / max(1, counts[task])) for task, (_, total) in self._sums.items()}

    def close(self) -> None:
        """End the grading process."""
        self._grader.close()


def plain_scorers(log: Path) -> list[Chosen]:
    """The first scorer of each task of a run, unless that asks a judge or runs programs."""
    from loadgen.sessions.scoring.choice import choose
    from reporter.log.settings import settings

    accuracy = settings(log).get("accuracy") or {}
    chosen = choose(tasks_of(log), ScoringChoices(allow_code_execution=True), accuracy)
    first = {entry.task: entry for entry in reversed(chosen)}
    return [entry for entry in first.values() if not (entry.scorer.ask or entry.scorer.runs_code)]


def main(log: Path) -> None:
    """Score until standard input ends."""
    os.nice(19)
    import orjson

    scorer, is_paced, pause_s = AnswerScorer(log), False, PAUSE_S
    while not select.select([sys.stdin], [], [], pause_s)[0]:
        started_s = time.process_time()
        sys.stdout.write(orjson.dumps(scorer.look()).decode() + "\n")
        sys.stdout.flush()
        # The first look imports what the others use.
        pause_s = max(PAUSE_S, is_paced * (time.process_time() - started_s) / CPU_SHARE)
        is_paced = True
    scorer.close()


if __name__ == "__main__":
    # The run goes on without it; a traceback would tear the view.
    with suppress(Exception):
        main(Path(sys.argv[1]))
