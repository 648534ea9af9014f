"""The scorers `baseline`: OpenJarvis' scoring of benchmarks where the official definition is another.

open-jarvis/OpenJarvis at 620f20cc, `src/openjarvis/evals/scorers`, with its prompts. They are for comparison
with its figures alone. A reply that cannot be parsed counts as wrong there.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.grading.json_answer import object_of, objects_in
from loadgen.plugins.evals.grading.race import DIMENSIONS
from loadgen.plugins.evals.headlines import metric_shares
from loadgen.plugins.evals.judging.judge_prompts import judge_prompts
from workloads.score import Score, graded, pending, with_replies
from workloads.scorer import Headline, Inquiry, Scorer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from workloads.answer import Answer
    from workloads.scorer import Reference

_NAME: Final = "baseline"
_KEY: Final = "baseline"
_PASS: Final = 0.5
_PROMPTS: Final = judge_prompts(_NAME)
_CORRECT: Final = re.compile(r"^correct:\s*(yes|no)", re.MULTILINE | re.IGNORECASE)
_BOXED: Final = re.compile(r"\\boxed\{([^}]+)\}")
_THINKING: Final = re.compile(r"<think>.*?</think>", re.DOTALL)
_FENCED: Final = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL)
_JSON_BLOCK: Final = re.compile(r"```json\s*(.*?)\s*```", re.DOTALL)
_BEST_MARK: Final = 10
_COVERED: Final = frozenset({"true", "yes", "covered", "1", "y"})
_WEIGHTS: Final = {
    "comprehensiveness": 0.25,
    "insight": 0.30,
    "instruction_following": 0.25,
    "readability": 0.20,
}
_MOST_TOKENS: Final = 4096


def _scorer(
    file: str,
    ask: Callable[[Reference, Answer], Sequence[Inquiry]],
    grade: Callable[[Reference, Answer], Score],
    *figures: str,
) -> Scorer:
    return Scorer(
        _NAME,
        1,
        grade,
        f"open-jarvis/OpenJarvis@620f20cc, evals/scorers/{file}: not the official definition",
        headlines=(
            Headline("accuracy"),
            *metric_shares(*figures),
        ),
        ask=ask,
        judge=_PROMPTS.label,
        note="for comparison with the figures of OpenJarvis",
    )


def _inquiry(prompt: str, max_tokens: int, key: str = _KEY, **texts: str) -> Inquiry:
    return Inquiry(key, _PROMPTS.prompts[prompt].messages(**texts), max_tokens, temperature=0.0)


def _verdict(
    prompt: str,
    read: Callable[[str], bool | None],
    shortcut: Callable[[str, str], bool] = lambda _predicted, _answer: False,
    max_tokens: int = _MOST_TOKENS,
) -> tuple[Callable[[Reference, Answer], Sequence[Inquiry]], Callable[[Reference, Answer], Score]]:
    """The inquiry for one verdict of a judge, and the parsing of the reply."""

    def is_settled(reference: Reference, answer: Answer) -> bool:
        return not answer.text.strip() or shortcut(answer.text, reference["answer"])

    def ask(reference: Reference, answer: Answer) -> Sequence[Inquiry]:
        if is_settled(reference, answer):
            return ()
        texts = {name: reference[name] for name in ("question", "answer")}
        return (_inquiry(prompt, max_tokens, predicted=answer.text, **texts),)

    def grade(reference: Reference, answer: Answer) -> Score:
        if is_settled(reference, answer):
            is_right = bool(answer.text.strip())
            return graded(is_right, None, "" if is_right else "no answer")
        reply = answer.judged.get(_KEY)
        if reply is None:
            return pending()
        verdict = read(reply)
        if verdict is None:
            return with_replies(graded(0, None, "the judge gave no verdict, which counts as wrong"), reply)
        return graded(verdict, "yes" if verdict else "no", "" if verdict else "wrong, the judge says")

    return ask, grade


def same(predicted: str, answer: str) -> bool:
    """Whether two answers are equal as numbers, or as texts without blanks and punctuation.

    Of both, the first box counts where there is one.
    """
    boxes = [_BOXED.search(text) for text in (predicted, answer)]
    predicted, answer = (
        box[1].strip() if box else text for box, text in zip(boxes, (predicted, answer), strict=True)
    )
    try:
        number = float(answer)
    except ValueError:
        return _letters(predicted) == _letters(answer)
    try:
        return float(re.sub(r"[$%,]", "", predicted)) == number
    except ValueError:
        return number == float("inf")


def _letters(text: str) -> str:
    return re.sub(r"\s", "", text).lower().translate(str.maketrans("", "", string.punctuation))


def _yes_or_correct(reply: str) -> bool | None:
    line = _CORRECT.search(reply)
    if line:
        return line[1].lower() == "yes"
    return _correct(reply, whole_word=False)


def _correct(reply: str, *, whole_word: bool = True) -> bool | None:
    """Whether CORRECT is there and INCORRECT is not; None for neither."""
    edge = r"\b" if whole_word else ""
    if re.search(rf"{edge}INCORRECT{edge}", reply, re.IGNORECASE):
        return False
    return True if re.search(rf"{edge}CORRECT{edge}", reply, re.IGNORECASE) else None


def _yes_or_true(reply: str) -> bool | None:
    line = _CORRECT.search(reply)
    if line:
        return line[1].lower() == "yes"
    if "TRUE" in reply.upper():
        return True
    return False if "FALSE" in reply.upper() else None


def natural_reasoning() -> Scorer:
    """Equality, else a judge."""
    return _scorer("reasoning_judge.py", *_verdict("natural_reasoning", _yes_or_correct, same, 2048))


def ipw() -> Scorer:
    """One judge for the rows of all data sets."""
    return _scorer("ipw_mixed.py", *_verdict("ipw", _yes_or_true, max_tokens=2048))


def paperarena() -> Scorer:
    """A judge for all kinds of questions: the rule for letters is for a type absent from the data."""
    return _scorer("paperarena_judge.py", *_verdict("paperarena", _correct))


def ama_bench(answers_in: Callable[[str, int], list[str]]) -> Scorer:
    """Right by the judge's yes, else by an F1 of a half; the mean over the questions of a trajectory."""

    def ask(reference: Reference, answer: Answer) -> Sequence[Inquiry]:
        predicted = answers_in(answer.text, len(reference["pairs"]))
        return [
            _inquiry(
                "ama_bench",
                128,
                str(number),
                question=pair["question"],
                answer=pair["answer"],
                predicted=text,
            )
            for number, (pair, text) in enumerate(zip(reference["pairs"], predicted, strict=True), 1)
        ]

    def grade(reference: Reference, answer: Answer) -> Score:
        pairs = reference["pairs"]
        replies = [answer.judged.get(str(number)) for number in range(1, len(pairs) + 1)]
        if None in replies:
            return pending()
        texts = answers_in(answer.text, len(pairs))
        verdicts = [label_in(reply or "") for reply in replies]
        right = [
            _f1(text, pair["answer"]) >= _PASS if verdict is None else verdict
            for verdict, text, pair in zip(verdicts, texts, pairs, strict=True)
        ]
        score = graded(sum(right) / len(right), f"{sum(right)} of {len(right)}")
        unread = [reply or "" for reply, verdict in zip(replies, verdicts, strict=True) if verdict is None]
        return with_replies(score, *unread) if unread else score

    return _scorer("ama_bench_judge.py", ask, grade)


def _f1(predicted: str, answer: str) -> float:
    """The F1 of the words, without punctuation; articles count."""
    without = str.maketrans("", "", string.punctuation)
    words, wanted = (Counter(text.lower().translate(without).split()) for text in (predicted, answer))
    shared, total = (words & wanted).total(), words.total() + wanted.total()
    return 2 * shared / total if total else 1.0


def label_in(reply: str) -> bool | None:
    """Whether a reply is yes: alone, alone in a line, or anywhere; None for neither yes nor no."""
    text = _THINKING.sub("", reply.strip().lower()).strip()
    words = [line.strip().rstrip(".:,") for line in text.splitlines()]
    alone = next((word for word in (text, *words) if word in {"yes", "no"}), None)
    if alone is not None:
        return alone == "yes"
    if re.search(r"\byes\b", text):
        return True
    return False if re.search(r"\bno\b", text) else None


def liveresearchbench() -> Scorer:
    """The share of the checklist that one reply calls covered; right from a half on."""

    def ask(reference: Reference, answer: Answer) -> Sequence[Inquiry]:
        if not reference["checklist"] or not answer.text.strip():
            return ()
        listed = "\n".join(f"{number}. {item}" for number, item in enumerate(reference["checklist"], 1))
        texts = {"question": reference["query"], "checklist": listed, "predicted": answer.text}
        return (_inquiry("liveresearchbench", _MOST_TOKENS, **texts),)

    def grade(reference: Reference, answer: Answer) -> Score:
        if not answer.text.strip() or not reference["checklist"]:
            return graded(0, None, "no report, or no checklist", coverage=0.0)
        reply = answer.judged.get(_KEY)
        if reply is None:
            return pending()
        covered = covered_in(reply)
        count = len(reference["checklist"])
        coverage = sum(covered.get(number, False) for number in range(1, count + 1)) / count
        score = graded(coverage >= _PASS, f"{coverage:.3f}", coverage=coverage)
        return score if covered else with_replies(score, reply)

    return _scorer("liveresearchbench.py", ask, grade, "coverage")


def covered_in(reply: str) -> dict[int, bool]:
    """The covered items of a checklist, by number, from the first object with items."""
    fenced = [value for block in _FENCED.findall(reply) for value in objects_in(block)]
    for value in (*fenced, *objects_in(reply)):
        items = value.get("judgments") or value.get("items")
        covered = {}
        for item in items if isinstance(items, list) else ():
            try:
                covered[int(item["index"])] = _is_covered(item.get("covered"))
            except (AttributeError, KeyError, TypeError, ValueError):
                continue
        if covered:
            return covered
    return {}


def _is_covered(value: Any) -> bool:
    return value.strip().lower() in _COVERED if isinstance(value, str) else value is True


def deepresearch() -> Scorer:
    """Marks from 0 to 10 in four dimensions, without a reference report; right from a weighted half on."""

    def ask(reference: Reference, answer: Answer) -> Sequence[Inquiry]:
        if not answer.text.strip():
            return ()
        rubric = _rubric(reference["criterions"])
        texts = {"question": reference["task"], "predicted": answer.text, "rubric": rubric}
        return (_inquiry("deepresearch", _MOST_TOKENS, **texts),)

    def grade(reference: Reference, answer: Answer) -> Score:
        if not answer.text.strip():
            return graded(0, None, "no report", weighted=0.0)
        reply = answer.judged.get(_KEY)
        if reply is None:
            return pending()
        marks = marks_in(reply)
        weights = reference.get("dimension_weight") or _WEIGHTS
        total = sum(marks.get(name, 0.0) * weights[name] for name in DIMENSIONS)
        share = total / (sum(weights[name] for name in DIMENSIONS) or 1.0) / 10
        score = graded(share >= _PASS, f"{share:.3f}", weighted=share)
        return score if marks else with_replies(score, reply)

    return _scorer("liveresearch.py", ask, grade, "weighted")


def _rubric(criterions: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    lines = []
    for dimension in DIMENSIONS:
        lines.append(f"\n### {dimension.replace('_', ' ').title()}")
        for number, item in enumerate(criterions[dimension], 1):
            explanation = f"\n     {item['explanation']}" if item.get("explanation") else ""
            lines.append(f"  {number}. [{item['weight']:.0%}] {item['criterion']}{explanation}")
    return "\n".join(lines)


def marks_in(reply: str) -> dict[str, float]:
    """The marks of a reply: a block of JSON, else the last object with `scores`, else names and numbers."""
    objects = objects_in(reply)
    marked = [value for value in objects if "scores" in value]
    block = _JSON_BLOCK.search(reply)
    whole = object_of(block[1]) if block else None
    for value in (*([] if whole is None else [whole]), *marked[::-1], *objects[:1]):
        scores = value.get("scores")
        marks = scores if isinstance(scores, dict) else {}
        return {name: float(marks[name]) for name in DIMENSIONS if isinstance(marks.get(name), int | float)}
    patterns = {name: rf'"?{name}"?\s*[:=]\s*([\d.]+)' for name in DIMENSIONS}
    named = {name: re.search(pattern, reply, re.IGNORECASE) for name, pattern in patterns.items()}
    numbers = {name: _number(match[1]) for name, match in named.items() if match}
    return {name: number for name, number in numbers.items() if number is not None and number <= _BEST_MARK}


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
