"""GAIA: questions for assistants with one short answer each, 165 for validation (arXiv:2311.12983).

Officially an assistant with tools answers, and hands in its final answer alone; the benchmark says in which
form it is to be given: `FINAL ANSWER: …`. `mode=answer` asks a model without tools, and without the files of
questions (tag `file`). `mode=agent` lets it work with tools in a sandbox that has them.
"""

from __future__ import annotations

import re
import string
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from loadgen.plugins.agents.tool_agent import TOOLS, answer_with_tools
from loadgen.plugins.evals.grading.json_answer import json_in
from loadgen.plugins.evals.headlines import by_tag, metric_shares
from loadgen.plugins.evals.judging.judge_prompts import judge_prompts
from loadgen.plugins.evals.prompts import prompt
from loadgen.plugins.evals.tasks.benchmarks import ScoreRule, benchmark
from workloads.cells import tag, text, whole
from workloads.episode_program import EpisodeProgram, EpisodeSample
from workloads.errors import ColumnError, SourceError, TaskError, did_you_mean
from workloads.question import Question
from workloads.sample import Sample
from workloads.sandbox_contract import SandboxSpec
from workloads.score import Score, graded, pending, unparsed, unreadable
from workloads.scorer import Headline, Inquiry, Reference

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from loadgen.plugins.agents.episode import Ask, EpisodeResult
    from loadgen.plugins.sandbox.opening import SandboxOnDemand
    from workloads.answer import Answer
    from workloads.workload import Inputs

_SYSTEM: Final = prompt("gaia", "system")
_MARKER: Final = "FINAL ANSWER:"
_LEVELS: Final = (1, 2, 3)
_MODES: Final = ("answer", "agent")
_ATTACHED: Final = "{question}\n\nThe file {file}, which the question is about, is in the working folder."
_UNKNOWN: Final = "?"
_KEY: Final = "verdict"
_PROMPTS: Final = judge_prompts("gaia_fallback")
_JUDGE_TOKENS: Final = 1024


def questions(inputs: Inputs) -> Iterator[Question]:
    """One question per row of the chosen level; 0 takes all levels."""
    level, mode = inputs.options["level"], inputs.options["mode"]
    if level not in {0, *_LEVELS}:
        raise TaskError(f"gaia:level={level}: must be one of {_LEVELS}, or 0 for all of them")
    if mode not in _MODES:
        raise TaskError(f"gaia:mode={mode}: must be one of {', '.join(_MODES)}{did_you_mean(mode, _MODES)}")
    files = {path.name: path for path in inputs.paths("files")} if mode == "agent" else {}
    for index, row in enumerate(inputs.rows):
        wanted = tag(row, "Final answer")
        if wanted == _UNKNOWN:
            raise ColumnError(
                f"{row.place}: no answer is published for this row; use the part for validation"
            )
        if level and whole(row, "Level") != level:
            continue
        tags = {"level": str(whole(row, "Level")), "file": "yes" if row["file_name"] else "no"}
        sample = Sample(index, text(row, "Question"), system=_SYSTEM, tags=tags)
        if mode == "agent":
            sample = _with_tools(
                sample, str(row["file_name"] or ""), files, network=inputs.options["network"]
            )
        yield Question(tag(row, "task_id"), sample, {"answer": wanted})


def _with_tools(sample: Sample, file: str, files: Mapping[str, Path], *, network: bool) -> EpisodeSample:
    """A sample as an episode with tools, in a sandbox with the file of the question."""
    if file and file not in files:
        raise SourceError(
            f"gaia: no file {file!r}, which a question comes with, among the files of the questions"
        )
    program = EpisodeProgram(
        f"{__name__}:play",
        files={file: str(files[file])} if file else {},
        sandbox=SandboxSpec(network=network),
        setup=f"{__name__}:setup",
    )
    prompt = _ATTACHED.format(question=sample.prompt, file=file) if file else sample.prompt
    return EpisodeSample.of(replace(sample, prompt=prompt), program)


async def setup(sample: EpisodeSample, sandbox: SandboxOnDemand) -> None:
    """Put the file of a question into the working folder."""
    if files := _contents(sample.episode.files):
        await sandbox.put_files(files)


def _contents(files: Mapping[str, str]) -> dict[str, bytes]:
    return {name: Path(path).read_bytes() for name, path in files.items()}


async def play(sample: EpisodeSample, ask: Ask, sandbox: SandboxOnDemand) -> EpisodeResult:
    """Let the model work with the tools of `@tools`."""
    return await answer_with_tools(sample, ask, sandbox, tuple(TOOLS))


def final_answer(text: str) -> str | None:
    """The final answer: the first non-empty line after the last `FINAL ANSWER:`."""
    _, marker, rest = text.rpartition(_MARKER)
    if not marker:
        return None
    return next((line.strip() for line in rest.split("\n") if line.strip()), "")


def grade(reference: Reference, answer: Answer) -> Score:
    """Right where the final answer is, as a number, a list or a text."""
    extracted = final_answer(answer.text)
    return unparsed(f"no `{_MARKER}`") if extracted is None else _compared(reference, extracted)


def grade_whole(reference: Reference, answer: Answer) -> Score:
    """Right where all that was said is the final answer."""
    return _compared(reference, answer.text)


def grade_fallback(reference: Reference, answer: Answer) -> Score:
    """Right by the official rule, or by a judge's verdict of equal meaning."""
    exact = grade(reference, answer)
    if exact.value == 1:
        return replace(exact, metrics={"exact": 1.0})
    judge_text = answer.judged.get(_KEY)
    if judge_text is None:
        return pending()
    judgement = json_in(judge_text, dict) or {}
    correct = str(judgement.get("correct", "")).strip().lower()
    if correct not in {"yes", "no"}:
        return unreadable("JSON object with `correct` (yes or no)", judge_text)
    extracted, reasoning = str(judgement.get("extracted_final_answer")), str(judgement.get("reasoning", ""))
    right = correct == "yes"
    reason = "the judge says that it means the same" if right else "another answer, the judge says"
    details = {"extracted_final_answer": extracted, "reasoning": reasoning, "correct": correct}
    return replace(graded(right, extracted, reason, exact=0.0), details=details)


def ask(reference: Reference, answer: Answer) -> Sequence[Inquiry]:
    """An inquiry about the meaning of an answer that is officially wrong; none for other answers."""
    if grade(reference, answer).value == 1:
        return ()
    question = next((message["content"] for message in answer.messages if message["role"] == "user"), "")
    messages = _PROMPTS.prompts["verdict"].messages(
        question=question, response=answer.text, correct_answer=reference["answer"]
    )
    return (Inquiry(_KEY, messages, _JUDGE_TOKENS, temperature=0.0),)


_UNITS: Final = str.maketrans("", "", "$%,")
_MARKS: Final = str.maketrans("", "", string.punctuation)
_SEPARATOR: Final = re.compile("[,;]")


def is_right(answer: str, wanted: str) -> bool:
    """Whether an answer is right; the expected answer decides how both are parsed."""
    if _number(wanted) is not None:
        return _same_number(answer, wanted)
    if not _SEPARATOR.search(wanted):
        return _plain(answer).translate(_MARKS) == _plain(wanted).translate(_MARKS)
    ours, theirs = _SEPARATOR.split(answer), _SEPARATOR.split(wanted)
    return len(ours) == len(theirs) and all(map(_same_part, ours, theirs))


def _same_part(answer: str, wanted: str) -> bool:
    """Of lists, in which punctuation counts."""
    if _number(wanted) is not None:
        return _same_number(answer, wanted)
    return _plain(answer) == _plain(wanted)


def _same_number(answer: str, wanted: str) -> bool:
    """Whether both are one number; a text without a number is infinite, as in the official code."""
    number = _number(answer.translate(_UNITS))
    return (float("inf") if number is None else number) == float(wanted)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _plain(text: str) -> str:
    return re.sub(r"\s", "", text).lower()


def _compared(reference: Reference, extracted: str) -> Score:
    right = is_right(extracted, reference["answer"])
    return graded(right, extracted, "" if right else "another answer")


_HEADLINES: Final = (
    Headline("accuracy"),
    *by_tag("level", _LEVELS, "level_"),
)

WORKLOAD: Final = benchmark(
    "gaia",
    questions,
    official=ScoreRule(grade, headlines=_HEADLINES),
    whole_text=ScoreRule(grade_whole, headlines=_HEADLINES),
    judge_fallback=ScoreRule(
        grade_fallback, ask=ask, judge=_PROMPTS.label, headlines=(*_HEADLINES, *metric_shares("exact"))
    ),
)
