"""AMA-Bench: questions about long trajectories of agents (AMA-Bench/AMA-Bench).

One prompt asks all questions of a trajectory, as in the official long-context method; a judge says of each
answer whether it is correct. A prompt that is longer than the context is cut, 70 % of it kept from the head
and 30 % from the tail, by the model's own tokenizer: options `tokenizer` and `max_len`.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.judging.judge_prompts import judge_prompts
from loadgen.plugins.evals.tasks import baseline
from loadgen.plugins.evals.tasks.benchmarks import ScoreRule, benchmark
from workloads.cells import tag
from workloads.errors import ColumnError, TaskError
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, graded, pending, with_replies
from workloads.scorer import Headline, Inquiry, Reference
from workloads.tokenizer import tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from workloads.answer import Answer
    from workloads.sources import FileRow
    from workloads.workload import Inputs

_PROMPTS: Final = judge_prompts("ama_bench")
_HEAD: Final = 0.7
_SHORTEST: Final = 100
_TRAJECTORY: Final = (
    "## Task Description\n{task}\n\n## Agent Trajectory\n"
    "The following is a step-by-step trajectory of the agent's actions and observations:\n\n{steps}"
)
_OPEN_INTRO: Final = (
    "Please answer the following questions based on the task description and agent trajectory above. "
    "For each question, provide a direct and concise answer."
)
_CHOICES_INTRO: Final = (
    "Please answer the following multiple-choice questions based on the task description and agent "
    "trajectory above."
)
_CHOICES_FORMAT: Final = (
    "For each question, select all correct options and respond using the format (A), (B), (C), or (D). "
    "If multiple options are correct, combine them like (A)(B)."
)
_OPEN: Final = (
    _OPEN_INTRO,
    "Please provide answers in the following format:",
    "Answer[{number}]: [your answer here]",
)
_CHOICES: Final = (
    _CHOICES_INTRO,
    _CHOICES_FORMAT,
    "Answer[{number}]: [(A)/(B)/(C)/(D) or combination such as (A)(B)]",
)
_MARKER: Final = "##Answer:"
_THINKING: Final = re.compile(r"<think>.*?</think>", re.DOTALL | re.IGNORECASE)
_YES_OR_NO: Final = re.compile(r"\b(yes|no)\b")


def questions(inputs: Inputs) -> Iterator[Question]:
    """One prompt a trajectory, with all of the trajectory's questions."""
    cut = _cutting(inputs.options["tokenizer"], inputs.options["max_len"])
    words = _CHOICES if inputs.options["subset"] == "mcq" else _OPEN
    for index, row in enumerate(inputs.rows):
        pairs = _pairs(row)
        tags = {name: tag(row, name) for name in ("domain", "task_type")}
        task = row["task"] if isinstance(row["task"], str) else ""
        episode = tag(row, "episode_id")
        reference = {
            "episode": episode,
            "task": task,
            "task_type": tags["task_type"],
            "pairs": pairs,
        }
        steps = _steps(row)
        context = _TRAJECTORY.format(task=task, steps=steps) if task else steps
        suffix = _suffix(words, [pair["question"] for pair in pairs])
        yield Question(episode, Sample(index, cut(context, suffix), tags=tags), reference)


def _pairs(row: FileRow) -> list[dict[str, str]]:
    pairs = row["qa_pairs"]
    try:
        checked = [{"question": str(pair["question"]), "answer": str(pair["answer"])} for pair in pairs]
    except (KeyError, TypeError) as error:
        raise ColumnError(
            f"{row.place}: `qa_pairs` is not a list of objects with `question` and `answer`"
        ) from error
    if not checked:
        raise ColumnError(f"{row.place}: `qa_pairs` is empty")
    return checked


def _steps(row: FileRow) -> str:
    trajectory = row["trajectory"]
    if not isinstance(trajectory, list) or not all(isinstance(step, dict) for step in trajectory):
        raise ColumnError(f"{row.place}: `trajectory` is not a list of objects")
    return "\n".join(map(_step, trajectory))


def _step(step: Mapping[str, Any]) -> str:
    action, observation = step.get("action", ""), step.get("observation", "")
    return f"Step {step.get('turn_idx', 0)}:\nAction: {action}\nObservation: {observation}\n"


def _suffix(words: tuple[str, str, str], asked: Sequence[str]) -> str:
    intro, instructions, slot = words
    listed = "\n".join(f"Question {number}: {question}\n" for number, question in enumerate(asked, 1))
    slots = "\n".join(slot.format(number=number) for number in range(1, len(asked) + 1))
    return f"\n\n## Questions\n{intro}\n\n{listed}\n## Instructions\n{instructions}\n\n{slots}"


def _cutting(name: str, limit: int) -> Callable[[str, str], str]:
    """A function that joins a context and questions, and cuts the context to a number of tokens."""
    if limit < 1:
        raise TaskError(f"ama_bench:max_len={limit}: must be a number of tokens, from 1 on")
    if not name:
        return lambda context, suffix: context + suffix
    tokens = tokenizer(name)

    def cut(context: str, suffix: str) -> str:
        ids = tokens.encode(context)
        room = max(_SHORTEST, limit - len(tokens.encode(suffix)))
        if len(ids) <= room:
            return context + suffix
        head = int(room * _HEAD)
        return str(tokens.decode(ids[:head] + ids[head - room :], skip_special_tokens=True)) + suffix

    return cut


def answers_in(response: str, count: int) -> list[str]:
    """The answers to all questions; one that has no `Answer[n]:` is the whole response."""
    return [_answer(response, number) for number in range(1, count + 1)]


def _answer(response: str, number: int) -> str:
    pattern = rf"Answer\[{number}\]:\s*(.+?)(?=Answer\[{number + 1}\]:|$)"
    match = re.search(pattern, response, re.DOTALL)
    marked = f"{_MARKER} {match[1].strip()}" if match else response
    marked = re.sub(r"<think>.*?</think>", "", marked, flags=re.DOTALL).strip()
    if _MARKER not in marked:
        return marked
    # The first line alone, as in the official code.
    return marked.split(_MARKER)[1].strip().split("\n")[0].strip()


def last_yes_or_no(reply: str) -> bool | None:
    """Whether the last `yes` or `no` behind a model's thinking is a `yes`; None where there is neither."""
    answers = _YES_OR_NO.findall(_THINKING.sub("", reply).strip().lower())
    return answers[-1] == "yes" if answers else None


def ask(reference: Reference, answer: Answer) -> Sequence[Inquiry]:
    """An inquiry for each answer: whether the answer is correct."""
    context = (("Task Type", "task_type"), ("Episode ID", "episode"), ("Task Context", "task"))
    shown = "\n".join(f"{title}: {reference[name]}" for title, name in context if reference[name])
    pairs = reference["pairs"]
    return [
        Inquiry(
            str(number),
            _PROMPTS.prompts["verdict"].messages(
                context=shown,
                question=pair["question"],
                golden_answer=pair["answer"],
                predicted_answer=predicted,
            ),
            max_tokens=2048,
            temperature=0.0,
        )
        for number, (pair, predicted) in enumerate(
            zip(pairs, answers_in(answer.text, len(pairs)), strict=True), 1
        )
    ]


def token_f1(predicted: str, golden: str) -> float:
    """F1 from 0 to 1; 1 where both have no words: case, punctuation and articles do not count."""
    first, second = _words(predicted), _words(golden)
    if not first or not second:
        return float(not first and not second)
    shared = sum((Counter(first) & Counter(second)).values())
    return 2 * shared / (len(first) + len(second))


def _words(text: str) -> list[str]:
    plain = re.sub(r"[^\w\s]", " ", text.lower())
    return re.sub(r"\b(a|an|the)\b", " ", plain).split()


def grade(reference: Reference, answer: Answer) -> Score:
    """The mean over the questions; where a judge says neither yes nor no, the F1 of the words counts."""
    pairs = reference["pairs"]
    replies = [answer.judged.get(str(number)) for number in range(1, len(pairs) + 1)]
    if any(reply is None for reply in replies):
        return pending()
    predicted = answers_in(answer.text, len(pairs))
    verdicts = [last_yes_or_no(reply or "") for reply in replies]
    values = [
        token_f1(text, pair["answer"]) if verdict is None else float(verdict)
        for verdict, text, pair in zip(verdicts, predicted, pairs, strict=True)
    ]
    unread = verdicts.count(None)
    score = graded(
        sum(values) / len(values),
        f"{sum(value == 1 for value in values)} of {len(values)}",
        f"{unread} replies of the judge were neither yes nor no" if unread else "",
        asked=len(values),
        total=sum(values),
        correct=sum(value == 1 for value in values),
        unread=unread,
        read_correct=verdicts.count(True),
    )
    unread_replies = [
        reply or "" for reply, verdict in zip(replies, verdicts, strict=True) if verdict is None
    ]
    return with_replies(score, *unread_replies) if unread else score


def _over(figure: str, asked: str = "metrics['asked']") -> str:
    return f"sum({figure}) / nullif(sum({asked}), 0)"


WORKLOAD: Final = benchmark(
    "ama_bench",
    questions,
    baseline.ama_bench(answers_in),
    official=ScoreRule(
        grade,
        headlines=(
            Headline("avg_score", _over("metrics['total']")),
            Headline("accuracy", _over("metrics['correct']")),
            Headline("judged_only", _over("metrics['read_correct']", "metrics['asked'] - metrics['unread']")),
        ),
        ask=ask,
        judge=_PROMPTS.label,
    ),
)
