"""Accuracy sessions against recorded answers: the published figures come out, also where one was killed.

`python benchmarks/accuracy_replay.py DATA` asks a mock endpoint, which has the recorded answers of real
models in DATA, all questions of IFEval and of MMLU-Pro by `loadgen accuracy`. On the way it kills every
session once (SIGKILL) and continues it by `loadgen resume`. Then each score must be what the official code
made of the same answer, and the accuracy the share of these; a question without a recorded answer is wrong.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from loadgen.mock_endpoint.process import start_mock
from recorder.event import EventType
from reporter.log.database import open_log
from workloads.benchmark import dataset
from workloads.nltk_data import offer
from workloads.task import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from workloads.question import Question

PROGRAM: Final = [str(Path(sys.executable).with_name("loadgen"))]
IN_FLIGHT: Final = 32
LONGEST: Final = "32768"
MODELS: Final = {"Phi-3-mini-4k-instruct": "first_rule", "gemini-1.5-flash-002": "official"}
"""Of MMLU-Pro, with the scorer that the recorded letters are by."""

_GIVE_UP_S: Final = 600.0
_LOOK_AGAIN_S: Final = 0.02
_NO_ANSWER: Final = 500
_LAST_DIGIT: Final = 1e-6
_SCORES: Final = "SELECT question_id, coalesce(value, -1) FROM scores"


@dataclass(frozen=True, slots=True)
class Replay:
    """A session and what must come of it.

    Attributes:
        name: What is asked, and whose answers come.
        task: The benchmark.
        scorer: How it is scored.
        questions: In order.
        answers: The recorded answers, by the ids of questions.
        verdicts: The recorded verdicts, as above.
        open: Questions of which the official code was not of one mind.
    """

    name: str
    task: str
    scorer: str
    questions: Sequence[Question]
    answers: Mapping[str, str]
    verdicts: Mapping[str, bool]
    open: frozenset[str] = frozenset()

    def expected(self, question: Question) -> float:
        """The value of a question, which is 0 where no answer was recorded."""
        return float(self.verdicts.get(question.id, False))

    def replies(self) -> Iterator[Mapping[str, Any]]:
        """The lines of a replies file; those of one prompt take turns."""
        for question in self.questions:
            prompt, answer = question.sample.prompt, self.answers.get(question.id)
            yield {"prompt": prompt} | ({"status": _NO_ANSWER} if answer is None else {"reply": answer})

    def kill_at(self) -> int:
        """After how many answers to kill it: where no prompt in flight has two verdicts."""
        verdicts: dict[str, set[float]] = {}
        for question in self.questions:
            verdicts.setdefault(question.sample.prompt, set()).add(self.expected(question))
        doubtful = [
            number
            for number, question in enumerate(self.questions)
            if len(verdicts[question.sample.prompt]) > 1
        ]
        bounds = [0, *doubtful, len(self.questions)]
        begin, end = max(pairwise(bounds), key=lambda gap: gap[1] - gap[0])
        return begin + (end - begin) // 3


def ifeval(data: Path) -> Replay:
    """GPT-4's published responses, with the strict verdicts of Google's code."""
    responses = {
        row["prompt"]: row["response"] for row in _rows(data, "input_response_data_gpt4_*", "ifeval")
    }
    judged = {str(row["key"]): row for row in _rows(data, "google_verdicts_strict*", "ifeval")}
    questions = dataset([parse("ifeval")], data).questions
    return Replay(
        "IFEval, GPT-4",
        "ifeval",
        "official",
        questions,
        {
            question.id: responses[question.sample.prompt]
            for question in questions
            if question.sample.prompt in responses
        },
        {key: all(row["follow_instruction_list"]) for key, row in judged.items()},
        frozenset(key for key, row in judged.items() if not row["stable"]),
    )


def mmlu_pro(data: Path, model: str) -> Replay:
    """A model's recorded outputs, with the letters that the official code read."""
    rows = {str(row["question_id"]): row for row in _rows(data, f"outputs_{model}*", "mmlu_pro")}
    questions = dataset([parse("mmlu_pro:shots=0")], data).questions
    return Replay(
        f"MMLU-Pro, {model}",
        "mmlu_pro:shots=0",
        MODELS[model],
        questions,
        {key: row["response"] for key, row in rows.items()},
        {
            question.id: rows[question.id]["pred"] == question.reference["answer"]
            for question in questions
            if question.id in rows
        },
    )


def _rows(data: Path, pattern: str, folder: str) -> Iterator[Any]:
    (path,) = (data / folder).glob(f"{pattern}.jsonl.gz")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def main() -> None:
    """Replay, compare, and print; exit 1 where anything differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="the folder of recorded answers")
    data = parser.parse_args().data.resolve()
    if not data.is_dir():
        print(f"SKIP: there is no {data}")
        return
    offer(data)
    replays = [ifeval(data), *(mmlu_pro(data, model) for model in MODELS)]
    equal = [replayed(replay, data) for replay in replays]
    sys.exit(0 if all(equal) else 1)


def replayed(replay: Replay, data: Path) -> bool:
    """Run a session that is killed and resumed; print the result, and return whether it is right."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        script = folder / "replies.jsonl"
        script.write_text("".join(f"{json.dumps(line)}\n" for line in replay.replies()))
        since = time.perf_counter()
        with start_mock(ttft="20ms", itl="0", replies=script, tokens_per_chunk=64) as mock:
            killed = kill_on_the_way(replay, data, mock.url, folder / "run")
            subprocess.run([*PROGRAM, "resume", folder / "run", "-q"], check=True, stdout=subprocess.DEVNULL)
        return reported(replay, folder / "run", killed, time.perf_counter() - since)


def kill_on_the_way(replay: Replay, data: Path, url: str, run: Path) -> int:
    """Start a session and kill it; return how many answers its log has then."""
    command = [*PROGRAM, "accuracy", replay.task, "--data", str(data), "--url", url, "--model", "recorded"]
    command += ["--scorer", replay.scorer, "-c", str(IN_FLIGHT), "--max-tokens", LONGEST]
    command += ["--out", str(run), "-q"]
    session = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL)
    until, wanted = time.monotonic() + _GIVE_UP_S, replay.kill_at()
    try:
        while (there := answered(run)) < wanted:
            if session.poll() is not None or time.monotonic() > until:
                raise SystemExit(f"{replay.name}: there was nothing to kill")
            time.sleep(_LOOK_AGAIN_S)
    finally:
        if session.poll() is None:
            os.killpg(session.pid, signal.SIGKILL)
        session.wait()
    return there


def answered(run: Path) -> int:
    """How many answers a log has that is being written."""
    if not (run / "events.db").exists():
        return 0
    with closing(sqlite3.connect(f"file:{run / 'events.db'}?mode=ro", uri=True)) as log:
        try:
            counted = log.execute(
                "SELECT count(*) FROM events WHERE code = ?", (EventType.COMPLETE.value,)
            ).fetchone()
        except sqlite3.OperationalError:  # it is being made
            return 0
        return int(counted[0])


def reported(replay: Replay, run: Path, killed: int, took_s: float) -> bool:
    """Print how the scores of a run compare with the recorded verdicts; tell whether all are equal."""
    with open_log(run, ["scores"]) as connection:
        scores = connection.execute(_SCORES).fetchall()
    (accuracy,) = json.loads((run / "report.json").read_bytes())["accuracy"]
    expected = {question.id: replay.expected(question) for question in replay.questions}
    same_prompt: dict[str, list[str]] = {}
    for question in replay.questions:
        same_prompt.setdefault(question.sample.prompt, []).append(question.id)
    scores_by_id = dict(scores)
    wrong = [
        ids
        for ids in same_prompt.values()
        # Questions of one prompt get its answers in turns, whichever is asked first.
        if sorted(scores_by_id.get(question, -1) for question in ids)
        != sorted(expected[question_id] for question_id in ids)
        and not replay.open.issuperset(ids)
    ]
    share = sum(expected.values()) / len(expected)
    is_whole = len(scores) == len(scores_by_id) == len(expected)
    is_share = bool(replay.open) or abs(accuracy["value"] - share) < _LAST_DIGIT
    is_right = is_whole and not wrong and is_share
    print(
        f"{replay.name}: {len(scores)} questions, {len(replay.answers)} recorded answers, "
        f"killed after {killed}, {took_s:.0f} s: accuracy {accuracy['value']:.6f}, recorded {share:.6f} "
        f"({sum(replay.verdicts.values()) / len(replay.verdicts):.6f} of those with an answer), "
        f"{sum(map(len, wrong))} differ: {'equal' if is_right else 'NOT EQUAL'}",
        flush=True,
    )
    return is_right


if __name__ == "__main__":
    main()
