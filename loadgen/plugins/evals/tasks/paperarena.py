"""PaperArena: questions over scientific papers, for agents with tools (Melmaphother/PaperArena).

Every kind of answer is judged. A reply of the judge that is not as asked for counts as wrong, officially; the
figure `parsed` is over the others. `exact` needs no judge for choices and concise answers.

With a folder of papers, each question is an episode with tools (`environments.paperarena`).
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import orjson

from loadgen.plugins.agents.tool_loop import tool_loop
from loadgen.plugins.evals.environments.paperarena import tools
from loadgen.plugins.evals.grading.json_answer import plain
from loadgen.plugins.evals.headlines import score_of
from loadgen.plugins.evals.judging.judge_prompts import judge_prompts
from loadgen.plugins.evals.tasks import baseline
from loadgen.plugins.evals.tasks.benchmarks import benchmark
from workloads.cells import tag, text
from workloads.episode_program import EpisodeProgram, EpisodeSample
from workloads.errors import SourceError
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, graded, pending, unparsed, with_replies
from workloads.scorer import Headline, Inquiry, Reference, Scorer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from loadgen.plugins.agents.episode import Ask, EpisodeResult
    from workloads.answer import Answer
    from workloads.sources import FileRow
    from workloads.workload import Inputs

_SYSTEM: Final = (
    "Answer questions about scientific papers with the tools. When you are done, end with a line `Answer: ` "
    "and the answer: for a choice the letters of the right options, else as few words as it takes."
)
_KEY: Final = "verdict"
_PROMPTS: Final = judge_prompts("paperarena")
_SURE: Final = range(11)
_TYPES: Final = {
    "multi_choice": "Multi-Choice Answer",
    "concise": "Concise Answer",
    "open": "Open Answer",
}


def questions(inputs: Inputs) -> Iterator[Question]:
    """One question a row."""
    for index, row in enumerate(inputs.rows):
        tags = {name: tag(row, name) for name in ("qa_type", "difficulty")}
        reference = {
            "question": text(row, "question"),
            "answer": tag(row, "answer"),
            "qa_type": tags["qa_type"],
        }
        sample = Sample(index, reference["question"], tags=tags)
        if inputs.options["papers"]:
            sample = _with_tools(sample, row, inputs.options["papers"])
        yield Question(tag(row, "qa_id"), sample, reference)


def _with_tools(sample: Sample, row: FileRow, papers: str) -> Sample:
    folder = Path(papers).absolute()
    for name in ("sampled_jsons", "selected_papers"):
        if not (folder / name).is_dir():
            raise SourceError(f"paperarena:papers={papers}: the folder {folder / name} does not exist")
    prompt = f"{sample.prompt}\n\nThe question is about the paper {text(row, 'pdf_name')}."
    schemas = tuple(tool.schema for tool in tools(folder))
    return EpisodeSample.of(
        replace(sample, prompt=prompt, system=_SYSTEM, tools=schemas),
        EpisodeProgram(f"{__name__}:play", files={"papers": str(folder)}),
    )


async def play(sample: EpisodeSample, ask: Ask, sandbox: object) -> EpisodeResult:  # noqa: ARG001 (the contract)
    """Let the model use the tools until the model answers."""
    return await tool_loop(ask, sample.messages(), tools(Path(sample.episode.files["papers"])))


def ask(reference: Reference, answer: Answer) -> Sequence[Inquiry]:
    """Whether the answer is correct."""
    messages = _PROMPTS.prompts["verdict"].messages(
        question=reference["question"],
        qa_type=reference["qa_type"],
        correct=reference["answer"],
        answer=answer.text,
    )
    return (Inquiry(_KEY, messages, temperature=0.0),)


def verdict_in(reply: str) -> tuple[bool, int] | None:
    """Whether the answer is correct, and how sure the judge is (0 to 10); None for an invalid reply."""
    try:
        value = orjson.loads(reply[reply.find("{") : reply.rfind("}") + 1])
    except orjson.JSONDecodeError:
        return None
    match value:
        case {"correct": "true" | "false" as correct, "reasoning": str(), "confidence": int() as confidence}:
            is_valid = confidence in _SURE and not isinstance(confidence, bool)
            return (correct == "true", confidence) if is_valid else None
    return None


def grade(_reference: Reference, answer: Answer) -> Score:
    """1 if the judge's verdict is correct."""
    reply = answer.judged.get(_KEY)
    if reply is None:
        return pending()
    verdict = verdict_in(reply)
    if verdict is None:
        score = graded(0, None, "the judge's reply is not the JSON that was asked for", invalid_reply=1)
        return with_replies(score, reply)
    correct, confidence = verdict
    return graded(correct, "true" if correct else "false", "", confidence=confidence / max(_SURE))


def grade_exact(reference: Reference, answer: Answer) -> Score:
    """Choices by letter, concise answers by words; open answers are excluded."""
    kind = reference["qa_type"]
    if kind == _TYPES["open"]:
        return graded(0, None, "an open answer needs a judge: the scorer `official`")
    final = _final(answer.text)
    if kind == _TYPES["multi_choice"]:
        chosen = letters_in(final)
        if not chosen:
            return unparsed("no letter of an option")
        shown = ", ".join(sorted(chosen))
        return graded(chosen == letters_in(reference["answer"]), shown, "")
    return graded(plain(final) == plain(reference["answer"]), final, "")


def _final(text: str) -> str:
    """The text after the last `Answer:`, else the whole text."""
    parts = re.split(r"(?i)\banswer\s*:", text)
    return parts[-1].strip(" \n*")


def letters_in(text: str) -> set[str]:
    """The letters of options in an answer: `B`, `A, C`, `(A) and (C)`, `B. because`."""
    alone = re.fullmatch(r"\s*[A-H](?:\s*(?:,|;|/|and|&)?\s*[A-H])*\s*\.?\s*", text)
    if alone:
        return set(re.findall(r"[A-H]", text))
    return set(re.findall(r"(?:^|[\s(,;])([A-H])(?=[).:,;]|$)", text, re.MULTILINE))


WORKLOAD: Final = benchmark(
    "paperarena",
    questions,
    Scorer(
        "official",
        1,
        grade,
        "Melmaphother/PaperArena@35e4a83d: paperarena_hub/tools/scorer.py",
        headlines=(
            Headline("accuracy"),
            Headline("parsed", "avg(value) FILTER (coalesce(metrics['invalid_reply'], 0) = 0)"),
            *(Headline(name, score_of("qa_type", title)) for name, title in _TYPES.items()),
        ),
        ask=ask,
        judge=_PROMPTS.label,
        note="the judge's prompt is this project's own; officially an agent with more tools answers",
    ),
    Scorer(
        "exact",
        1,
        grade_exact,
        "this project: choices by their letters, concise answers by their words, without a judge",
        headlines=(
            Headline("accuracy", f"avg(value) FILTER (tags['qa_type'] <> '{_TYPES['open']}')"),
            *(
                Headline(name, f"avg(value) FILTER (tags['qa_type'] = '{_TYPES[name]}')")
                for name in ("multi_choice", "concise")
            ),
        ),
        note="not the official definition, which has a judge for every answer",
    ),
    baseline.paperarena(),
)
