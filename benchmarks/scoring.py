"""How long it takes to score the answers of a run, from the start of the process to the last score on disk.

`python benchmarks/scoring.py` scores 12,032 answers to MMLU-Pro's questions on all cores, in under 3 s, and
541 to IFEval's on one core, in under 10 s; each in a separate process, the median of three rounds. Where
CONFORMANCE_DATA names the folder of recorded answers of real models, these are scored. Else answers are made
up, which are as long; among them are long lines without a letter, on which careless expressions take minutes.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from scorecard import Row, table

from recorder import Event, EventType, schema
from recorder.session import Session
from recorder.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from workloads.question import Question

    Answers = Callable[[Sequence[Question]], Mapping[str, str]]

ROUNDS: Final = 3
MMLU_PRO: Final = 12_032
IFEVAL: Final = 541
MS: Final = 1_000_000

_TEXT: Final = "the energy of a system so we find that each option holds and therefore it must be"
_LONG_LINE: Final = 16_000
_INSTRUCTIONS: Final[Sequence[tuple[str, Mapping[str, Any]]]] = (
    ("language:response_language", {"language": "en"}),
    ("change_case:english_lowercase", {}),
    ("detectable_format:number_bullet_lists", {"num_bullets": 3}),
    ("keywords:existence", {"keywords": ["energy", "system"]}),
    ("length_constraints:number_words", {"num_words": 200, "relation": "at least"}),
)


def main() -> None:
    """Score, and print what it took."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--score", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--one-core", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one_core and sys.platform == "linux":
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    if options.score:
        from loadgen.sessions.scoring.scoring_pass import score_run

        print(json.dumps(dict(score_run(options.score).graded)))
        return
    recorded = Path(os.environ.get("CONFORMANCE_DATA", ""))
    real = bool(os.environ.get("CONFORMANCE_DATA")) and recorded.is_dir()
    with TemporaryDirectory() as folder:
        work = Path(folder)
        data = recorded if real else work
        if not real:
            make_up(work)
        rows = [
            measure(work, data, "mmlu_pro:shots=0", gemini if real else letters, MMLU_PRO, (3, 2)),
            measure(work, data, "ifeval", gpt_4 if real else essays, IFEVAL, (10, 5), one_core=True),
        ]
    print("recorded answers" if real else "answers that were made up")
    print(table(rows))


def measure(
    work: Path,
    data: Path,
    name: str,
    answers: Answers,
    count: int,
    bounds: tuple[float, float],
    *,
    one_core: bool = False,
) -> Row:
    """Score the same run some times, each time in a further pass, on all cores or on one."""
    from workloads.benchmark import dataset
    from workloads.task import parse

    questions = dataset([parse(name)], data).questions
    if len(questions) != count:
        raise SystemExit(f"{name}: {len(questions)} questions, where {count} should be")
    run = work / f"run of {name.partition(':')[0]}"
    write(run, name, questions, answers(questions))
    seconds = []
    for _ in range(ROUNDS):
        since = time.perf_counter()
        finished = subprocess.run(
            [sys.executable, __file__, "--score", run, *(["--one-core"] if one_core else [])],
            check=True,
            capture_output=True,
        ).stdout
        seconds.append(time.perf_counter() - since)
        if sum(json.loads(finished).values()) != count:
            raise SystemExit(f"{name}: scored {finished.decode()}")
    where = "one core" if one_core else f"{os.cpu_count()} cores"
    return Row(f"score {count:,} answers, {name.partition(':')[0]}, {where}", seconds, bounds, "s")


def write(run: Path, task: str, questions: Sequence[Question], answers: Mapping[str, str]) -> None:
    """Write the log of a run that asked them all, and had these answers."""
    run.mkdir()
    at_ns = time.monotonic_ns() - 2 * len(questions) * MS
    settings = {"model": "m", "load": {"kind": "closed", "concurrency": 1}}
    store = Store.create(run / "events.db", Session("", at_ns, time.time_ns(), settings))
    events: list[Event] = []
    for number, question in enumerate(questions):
        event_data = {
            "prompt_id": number,
            "task": task,
            "id": question.id,
            "tags": dict(question.sample.tags),
        }
        events.append(
            Event(EventType.QUESTION, at_ns, None, {**event_data, "texts": {"reference": question.reference}})
        )
    for number, question in enumerate(questions):
        events += request(number, question, answers.get(question.id, ""), at_ns + number * MS)
    store.append([schema.row(event) for event in events])
    store.close()


def request(number: int, question: Question, answer: str, at_ns: int) -> Iterator[Event]:
    """The events of one request."""
    uuid = f"{number:032x}"
    asked = {"scheduled_ns": at_ns, "phase": "performance", "prompt_id": number}
    prompt = {"texts": {"messages": question.sample.messages()}}
    came = {"status": 200, "finish_reason": "stop", "output_tokens": len(answer) // 4, "stream": True}
    yield Event(EventType.LOADGEN_ISSUE_CALLED, at_ns, uuid, {**asked, **prompt})
    yield Event(EventType.REQUEST_SENT, at_ns, uuid, {"reused": True})
    yield Event(EventType.FIRST_CHUNK, at_ns + 1000, uuid)
    texts = {"output": answer, "reasoning": None, "tool_calls": None}
    yield Event(EventType.COMPLETE, at_ns + 2000, uuid, {**came, "texts": texts})


# Recorded answers…


def gemini(questions: Sequence[Question]) -> Mapping[str, str]:
    """What gemini-1.5-flash-002 answered to MMLU-Pro, by the ids of the questions."""
    del questions
    return {
        str(row["question_id"]): row["response"]
        for row in recorded("mmlu_pro/outputs_gemini-1.5-flash-002.jsonl.gz")
    }


def gpt_4(questions: Sequence[Question]) -> Mapping[str, str]:
    """What GPT-4 answered to IFEval's prompts."""
    texts = {
        row["prompt"]: row["response"]
        for row in recorded("ifeval/input_response_data_gpt4_20231107_145030.jsonl.gz")
    }
    return {question.id: texts.get(question.sample.prompt, "") for question in questions}


def recorded(file: str) -> Iterator[Any]:
    """The rows of a file of recorded answers."""
    with gzip.open(Path(os.environ["CONFORMANCE_DATA"]) / file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


# Answers that are made up…


def make_up(folder: Path) -> None:
    """Write questions as they are published."""
    random = Random(1)  # noqa: S311 (figures, not secrets)
    with (folder / "test.jsonl").open("w") as file:
        for number in range(MMLU_PRO):
            options = [prose(random, 8) for _ in range(10)]
            row = {"question_id": number, "question": prose(random, 40), "options": options, "src": "made up"}
            answer = {"answer": "ABCDEFGHIJ"[number % 10], "answer_index": number % 10, "cot_content": ""}
            file.write(json.dumps({**row, **answer, "category": f"category {number % 14}"}) + "\n")
    with (folder / "input_data.jsonl").open("w") as file:
        for number in range(IFEVAL):
            chosen = random.sample(_INSTRUCTIONS, 1 + number % 3)
            row = {
                "key": number,
                "prompt": prose(random, 60),
                "instruction_id_list": [name for name, _ in chosen],
                "kwargs": [dict(kwargs) for _, kwargs in chosen],
            }
            file.write(json.dumps(row) + "\n")


def letters(questions: Sequence[Question]) -> Mapping[str, str]:
    """Thoughts that end with a letter, most of them; some go on without end on one line."""
    random = Random(2)  # noqa: S311 (figures, not secrets)
    texts = {}
    for number, question in enumerate(questions):
        text = prose(random, 200) + f". The answer is ({random.choice('ABCDEFGHIJ')})."
        if number % 100 == 0:
            text = ("the answer: is not " * _LONG_LINE)[:_LONG_LINE]
        texts[question.id] = text
    return texts


def essays(questions: Sequence[Question]) -> Mapping[str, str]:
    """Texts of some hundred words, with lists."""
    random = Random(3)  # noqa: S311 (figures, not secrets)
    return {
        question.id: "\n".join(f"* {prose(random, 60)}" for _ in range(random.randint(1, 6)))
        for question in questions
    }


def prose(random: Random, words: int) -> str:
    """This many words."""
    return " ".join(random.choices(_TEXT.split(), k=words))


if __name__ == "__main__":
    main()
