"""The scores of a run while it runs, by a process with the lowest priority and a small share of one core.

    python -m loadgen.sessions.scoring.running_score LOG

It writes a JSON line per look at the log, `{TASK: [answers, mean]}`, until standard input ends. Scorers that
ask a judge or run programs are left to the scoring pass, whose scores are the ones that count.
"""

from __future__ import annotations

import os
import select
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from loadgen.sessions.settings.scoring import ScoringChoices
from recorder.errors import LogError

if TYPE_CHECKING:
    import subprocess

    from loadgen.sessions.scoring.choice import Chosen
    from loadgen.sessions.scoring.grader import Result

PAUSE_S: Final = 3.0
"""The least time between two looks at the log."""

CPU_SHARE: Final = 0.05
"""The most of one core that the looks take; the pauses grow with their CPU time."""

_MISSING: Final = """
    SELECT task, count(*) FROM asked JOIN questions USING (prompt_id)
    WHERE unscored = 'missing' GROUP BY task"""


class RunningScore:
    """The scores of the tasks of a run, as far as answers have come; a context manager that reads them.

    Args:
        log: The log of the run; None shows nothing.
    """

    def __init__(self, log: Path | None) -> None:
        self._log = log
        self._scores: dict[str, tuple[int, float]] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._read, name="running-score", daemon=True)

    def __enter__(self) -> Self:
        with suppress(OSError, LogError):
            if self._log is not None and _tasks(self._log):
                self._process = _started(self._log)
        if self._process is not None:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._thread.join()
            with self._process:
                pass  # its pipes are closed

    @property
    def text(self) -> str:
        """The scores in words; empty before the first."""
        return ", ".join(
            f"{task} {mean:.3f} of {count:,}" for task, (count, mean) in self._scores.items() if count
        )

    def lines(self, columns: int) -> list[tuple[str]]:
        """The scores as a line of a block on a terminal; none before the first."""
        return [(f"accuracy     {self.text} so far"[: columns - 1],)] if self.text else []

    def _read(self) -> None:
        import orjson

        assert self._process is not None  # noqa: S101 (the thread starts after it)
        for line in self._process.stdout or ():
            with suppress(ValueError):  # the last line of a process that is killed
                self._scores = orjson.loads(line)


class AnswerScorer:
    """Scores the answers of a growing log, each once.

    Args:
        log: The log.
    """

    def __init__(self, log: Path) -> None:
        from loadgen.sessions.scoring.site import Here

        self._log = log
        self._chosen = plain_scorers(log)
        self._sums: dict[str, list[float]] = {chosen.task: [0, 0.0] for chosen in self._chosen}
        self._seen: set[str] = set()
        self._grader = Here(ScoringChoices(processes=1)).graders(self._chosen, 0, 1)[0]

    def look(self) -> dict[str, tuple[int, float]]:
        """Score the new answers; the number of answers of each task so far, and their mean."""
        from loadgen.sessions.scoring.grading import Grading
        from reporter.answers import stored_answers, texts_of
        from reporter.log.database import open_log

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
    chosen = choose(_tasks(log), ScoringChoices(allow_code_execution=True), accuracy)
    first = {entry.task: entry for entry in reversed(chosen)}
    return [entry for entry in first.values() if not (entry.scorer.ask or entry.scorer.runs_code)]


def _tasks(log: Path) -> list[str]:
    from reporter.log.settings import settings

    tasks = (settings(log).get("accuracy") or {}).get("tasks") or ()
    return [str(task["task"]) for task in tasks]


def _started(log: Path) -> subprocess.Popen[bytes]:
    """The process, shielded from Ctrl-C; no secret is passed on."""
    import subprocess

    from loadgen.driver.client.redaction import VARIABLES
    from loadgen.driver.system.child import start_child

    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    return start_child(
        "loadgen.sessions.scoring.running_score",
        str(log),
        environment=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


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
