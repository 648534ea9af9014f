"""Many conversations at once: every turn has exactly what was said before it, and the log says so.

`loadgen perf` against `loadgen mock`, which writes down a digest of the messages of each request. What they
must have been follows from the questions of the dataset and from the answers that the log has: the digests
must be the same, for every turn of every conversation. All conversations must be under way at once, and none
may end before its last turn.

    python benchmarks/conversations.py [--sessions N] [--turns N] [--workers N] [--history recorded] [--json]
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import sys
from collections import Counter
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import under_load

from loadgen.mock_endpoint.process import start_mock
from loadgen.mock_endpoint.truth import digest
from recorder.event import EventType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

WORDS: Final = 40
"""In each question, in addition to the text that distinguishes it."""

THINK: Final = "exponential:200ms"
MOST_SHOWN: Final = 20
_INVALID: Final = 4
_FORGIVEN: Final = frozenset({"client_limited"})
"""Why a run may be invalid here: nothing is timed, and the machine may have other work."""


class Turn(NamedTuple):
    """A turn as the log tells it; moments in ns of CLOCK_MONOTONIC."""

    uuid: str
    prompt_id: int
    conversation: str
    turn: int
    issued_ns: int
    ended_ns: int
    output: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result.

    Attributes:
        sessions: How many conversations there were.
        turns: How many turns they had together.
        verified: Of how many turns the endpoint was asked exactly what it should have been.
        messages: How many messages these had together.
        most_at_once: How many conversations were under way at once.
        turns_s: Turns a second.
        loop_lag_p50_ms: What the worst worker said of its event loop.
        wrong: What is wrong, in sentences; empty when everything is right.
    """

    sessions: int
    turns: int
    verified: int
    messages: int
    most_at_once: int
    turns_s: float
    loop_lag_p50_ms: float
    wrong: tuple[str, ...]


def converse(sessions: int, turns: int, workers: int, history: str) -> Outcome:
    """Run this many conversations at once.

    Raises:
        RuntimeError: The run failed; the message is its own.
    """
    with (
        TemporaryDirectory(prefix="loadgen-conversations-") as folder,
        start_mock(ttft="uniform:20ms..200ms", itl="2ms", tokens="uniform:3..60") as mock,
    ):
        run, prompts = Path(folder) / "run", Path(folder) / "conversations.jsonl"
        _write(prompts, sessions, turns)
        load = ("-c", sessions, "--sessions", sessions, "--think", THINK, "--workers", workers, "--no-probe")
        asked = ("--prompts", prompts, "--conversations", "all", "--history", history)
        process = under_load.start(mock.url, run, *load, *asked)
        try:
            process.wait()
        finally:
            under_load.end(process, ())
        if process.returncode not in (0, _INVALID):
            raise RuntimeError(f"the run failed: {run.with_name('output').read_text()}")
        turns_of_log = _turns(run / "events.db")
        truth = {request.request_id: request for request in mock.truth(len(turns_of_log))}
        contexts = dict(_contexts(turns_of_log, history))
        report = json.loads((run / "report.json").read_bytes())
        verified = [
            turn
            for turn in turns_of_log
            if turn.uuid in truth and truth[turn.uuid].asked_sha256 == digest(contexts[turn.uuid])
        ]
        most_at_once = _most_at_once(turns_of_log)
        return Outcome(
            sessions=len({turn.conversation for turn in turns_of_log}),
            turns=len(turns_of_log),
            verified=len(verified),
            messages=sum(len(contexts[turn.uuid]) for turn in verified),
            most_at_once=most_at_once,
            turns_s=len(turns_of_log) / report["window"]["duration_s"],
            loop_lag_p50_ms=report["client"]["loop_lag_p50_ms"],
            wrong=(
                *_complete(turns_of_log, sessions, turns),
                *_right(len(verified), len(turns_of_log)),
                *_together(most_at_once, sessions),
                *_invalid(report),
            ),
        )


def _question(prompt: int, turn: int) -> str:
    return f"Question {turn} of conversation {prompt}. " + "And then? " * (WORDS // 2)


def _recorded(prompt: int, turn: int) -> str:
    return f"Answer {turn} of conversation {prompt}."


def _write(path: Path, sessions: int, turns: int) -> None:
    """A dataset of conversations in OpenAI's format."""
    with path.open("w") as file:
        for prompt in range(sessions):
            messages = [{"role": "system", "content": "Be brief."}]
            for turn in range(turns):
                messages += [
                    {"role": "user", "content": _question(prompt, turn)},
                    {"role": "assistant", "content": _recorded(prompt, turn)},
                ]
            file.write(json.dumps({"messages": messages}) + "\n")


def _turns(log: Path) -> list[Turn]:
    """The turns of a log, those of each conversation in order."""
    with closing(sqlite3.connect(log)) as connection:
        rows = connection.execute(
            "SELECT issue.sample_uuid, issue.data ->> 'prompt_id', issue.data ->> 'conversation', "
            "issue.data ->> 'turn', issue.at_ns, done.at_ns, done.texts ->> 'output' FROM events AS issue "
            "JOIN events AS done USING (sample_uuid) WHERE issue.code = ? AND done.code = ? ORDER BY 3, 4",
            (EventType.LOADGEN_ISSUE_CALLED, EventType.COMPLETE),
        )
        return [Turn(*row) for row in rows]


def _contexts(turns_of_log: Sequence[Turn], history: str) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    """What each turn must have been asked with, by its id."""
    messages: list[Mapping[str, Any]] = []
    for turn in turns_of_log:
        if not turn.turn:
            messages = [{"role": "system", "content": "Be brief."}]
        messages.append({"role": "user", "content": _question(turn.prompt_id, turn.turn)})
        yield turn.uuid, list(messages)
        answer = turn.output if history == "answered" else _recorded(turn.prompt_id, turn.turn)
        messages.append({"role": "assistant", "content": answer})


def _most_at_once(turns_of_log: Sequence[Turn]) -> int:
    """How many conversations were under way at once, at most: from their first issue to their last answer."""
    begins, ends = {}, {}
    for turn in turns_of_log:
        begins.setdefault(turn.conversation, turn.issued_ns)
        ends[turn.conversation] = turn.ended_ns
    steps = sorted([(at_ns, 1) for at_ns in begins.values()] + [(at_ns, -1) for at_ns in ends.values()])
    return max(accumulate(step for _, step in steps), default=0)


def _complete(turns_of_log: Sequence[Turn], sessions: int, turns: int) -> Iterator[str]:
    """Every conversation has every turn once, each after the one before."""
    asked = Counter((turn.prompt_id, turn.turn) for turn in turns_of_log)
    expected = {(prompt, turn) for prompt in range(sessions) for turn in range(turns)}
    if asked != Counter(expected):
        missing, more = expected - asked.keys(), len(turns_of_log) - len(asked.keys() & expected)
        yield f"{len(missing)} of {len(expected)} turns have no answer, and {more} are too many"
    for before, after in pairwise(turns_of_log):
        if after.turn and not (after.turn == before.turn + 1 and after.issued_ns >= before.ended_ns):
            yield f"turn {after.turn} of conversation {after.prompt_id} was issued too early"


def _right(verified: int, issued: int) -> Iterator[str]:
    if verified != issued:
        yield f"{issued - verified} of {issued} turns were not asked with what was said before them"


def _together(most_at_once: int, sessions: int) -> Iterator[str]:
    if most_at_once != sessions:
        yield f"{most_at_once} conversations were under way at once, and not {sessions}"


def _invalid(report: Mapping[str, Any]) -> Iterator[str]:
    for finding in report["findings"]:
        if finding["severity"] == "error" and finding["code"] not in _FORGIVEN:
            yield f"the run is invalid: {finding['message']}"


def main() -> int:
    """Run the conversations, and print the result; 0 when everything was right."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sessions", type=int, default=1000, help="all at once; 1,000 by default")
    parser.add_argument("--turns", type=int, default=5, help="of each; 5 by default")
    parser.add_argument("--workers", type=int, default=2, help="worker processes; 2 by default")
    parser.add_argument("--history", choices=("answered", "recorded"), default="answered")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a sentence")
    options = parser.parse_args()
    result = converse(options.sessions, options.turns, options.workers, options.history)
    if options.json:
        print(json.dumps(asdict(result), indent=2))
        return 1 if result.wrong else 0
    print(
        f"{'FAIL' if result.wrong else 'PASS'}: {result.verified:,} of {result.turns:,} turns of "
        f"{result.sessions:,} conversations had exactly their context ({result.messages:,} messages); "
        f"{result.most_at_once:,} conversations at once, {result.turns_s:,.0f} turns/s, loop lag p50 "
        f"{result.loop_lag_p50_ms:.2f} ms"
    )
    for wrong in result.wrong[:MOST_SHOWN]:
        print(f"  {wrong}")
    return 1 if result.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
