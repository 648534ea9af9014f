"""Multi-IF: conversations of three turns, cumulative instructions, eleven languages (arXiv:2410.15553).

Each turn has the instructions of those before and more. Official is for each turn and language the mean of
IFEval's four figures, and over languages their mean.
"""

from __future__ import annotations

import json
from collections import Counter
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.grading.instructions import follows
from loadgen.plugins.evals.grading.multilingual import MULTILINGUAL
from loadgen.plugins.evals.tasks.benchmarks import ScoreRule, benchmark
from loadgen.plugins.evals.tasks.ifeval import verdicts
from workloads.cells import tag
from workloads.conversation_sample import ConversationSample, FollowUp
from workloads.errors import ColumnError, TaskError
from workloads.nltk_data import offer
from workloads.question import Question
from workloads.score import Score, failed, graded
from workloads.scorer import Headline, Reference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workloads.answer import Answer
    from workloads.sources import FileRow
    from workloads.workload import Inputs

TURNS: Final = (1, 2, 3)
LANGUAGES: Final = (
    *("Chinese", "English", "French", "German", "Hindi", "Italian", "Portuguese", "Russian", "Spanish"),
    *("Thai", "Vietnamese"),
)
_NONE: Final = frozenset({"", "None"})


def questions(inputs: Inputs) -> Iterator[Question]:
    """One conversation a row."""
    if inputs.data is not None:
        offer(inputs.data)
    seen: Counter[str] = Counter()
    for index, row in enumerate(inputs.rows):
        turns = [_turn(row, turn) for turn in TURNS if not _is_left_out(row, turn)]
        if not turns:
            raise ColumnError(f"{row.place}: no turn has a prompt")
        first, *others = (turn["message"] for turn in turns)
        counts = {f"instructions_{turn['turn']}": str(len(turn["names"])) for turn in turns}
        sample = ConversationSample(
            index,
            str(first["content"]),
            tags={"language": tag(row, "language"), **counts},
            follow_ups=tuple(FollowUp((message,)) for message in others),
        )
        reference = {"turns": [{key: turn[key] for key in ("turn", "names", "arguments")} for turn in turns]}
        key = tag(row, "key")
        seen[key] += 1
        yield Question(key if seen[key] == 1 else f"{key}#{seen[key]}", sample, reference)


def _is_left_out(row: FileRow, turn: int) -> bool:
    """Whether a conversation has no such turn."""
    prompt = row[f"turn_{turn}_prompt"]
    return prompt is None or (isinstance(prompt, str) and prompt in _NONE)


def _turn(row: FileRow, turn: int) -> dict[str, Any]:
    message = _json(row, f"turn_{turn}_prompt")
    names = _json(row, f"turn_{turn}_instruction_id_list")
    arguments = _json(row, f"turn_{turn}_kwargs")
    if not isinstance(message, dict) or not isinstance(message.get("content"), str):
        raise ColumnError(f"{row.place}, column 'turn_{turn}_prompt': a message should be there")
    if not isinstance(names, list) or not isinstance(arguments, list) or len(names) != len(arguments):
        raise ColumnError(
            f"{row.place}: 'turn_{turn}_instruction_id_list' and 'turn_{turn}_kwargs' must be lists of one "
            "length"
        )
    options = [json.loads(option) if isinstance(option, str) else option for option in arguments]
    return {
        "turn": turn,
        "message": message,
        "names": names,
        "arguments": [
            {key: value for key, value in (option or {}).items() if value is not None} for option in options
        ],
    }


def _json(row: FileRow, column: str) -> Any:
    """A cell of JSON text, parsed; any other cell unchanged."""
    value = row[column]
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError as error:
        raise ColumnError(f"{row.place}, column {column!r}: not JSON ({error})") from error


def grade(reference: Reference, answer: Answer) -> Score:
    """The mean of the four figures over the turns; the metrics have each turn's."""
    texts = [*answer.earlier, answer.text]
    metrics: dict[str, float] = {}
    figures, missed = [], []
    for number, turn in enumerate(reference["turns"]):
        text = texts[number] if number < len(texts) else ""
        wanted = {"instruction_id_list": turn["names"], "kwargs": turn["arguments"]}
        try:
            judged = verdicts(wanted, text, instructions=MULTILINGUAL)
        except TaskError as error:
            return failed(f"turn {turn['turn']}: {error}")
        name = turn["turn"]
        followed = {
            f"strict_{name}": float(all(judged.strict)),
            f"loose_{name}": float(all(judged.loose)),
            f"followed_{name}": float(sum(judged.strict)),
            f"loosely_{name}": float(sum(judged.loose)),
        }
        metrics |= followed
        count = max(1, len(turn["names"]))
        figures.append(
            fmean(
                (
                    followed[f"strict_{name}"],
                    followed[f"loose_{name}"],
                    followed[f"followed_{name}"] / count,
                    followed[f"loosely_{name}"] / count,
                )
            )
        )
        missed += [
            f"turn {name}: {instruction}"
            for instruction, done in zip(turn["names"], judged.strict, strict=True)
            if not done
        ]
    metrics["all_turns"] = float(not missed)
    return graded(
        fmean(figures),
        ", ".join(f"{figure:.2f}" for figure in figures),
        f"not followed: {', '.join(missed)}" if missed else "",
        **metrics,
    )


def require(reference: Reference) -> None:
    """Make sure that everything is there that the instructions of a conversation are checked with."""
    for turn in reference["turns"]:
        for name, arguments in zip(turn["names"], turn["arguments"], strict=True):
            try:
                follows(name, arguments, instructions=MULTILINGUAL)
            except TaskError:  # such an instruction has no verdict, and its conversation no score
                continue


def _overall(turn: int, language: str | None = None) -> str:
    """The mean of the four figures of a turn: officially `turn_1_French_overall`."""
    count = f"tags['instructions_{turn}']"
    rows = f"{count} IS NOT NULL" + (f" AND tags['language'] = '{language}'" if language else "")

    def summed(metric: str) -> str:
        return f"sum(coalesce(metrics['{metric}_{turn}'], 0)) FILTER ({rows})"

    prompts = f"nullif(count(*) FILTER ({rows}), 0)"
    instructions = f"nullif(sum(CAST({count} AS INTEGER)) FILTER ({rows}), 0)"
    return (
        f"(({summed('strict')} + {summed('loose')}) / {prompts} "
        f"+ ({summed('followed')} + {summed('loosely')}) / {instructions}) / 4"
    )


def _over_languages(turn: int) -> str:
    """The mean over the languages that were asked."""
    return f"list_avg([{', '.join(_overall(turn, language) for language in LANGUAGES)}])"


def _headlines() -> Iterator[Headline]:
    yield Headline("score", f"list_avg([{', '.join(map(_over_languages, TURNS))}])")
    for turn in TURNS:
        yield Headline(f"turn_{turn}", _over_languages(turn))
    for turn in TURNS:
        yield Headline(f"turn_{turn}_all_languages", _overall(turn))
    yield Headline("all_turns_strict", "avg(coalesce(metrics['all_turns'], 0))")
    for language in LANGUAGES:
        for turn in TURNS:
            yield Headline(f"turn_{turn}_{language.lower()}", _overall(turn, language))


WORKLOAD: Final = benchmark(
    "multi_if", questions, official=ScoreRule(grade, require=require, headlines=tuple(_headlines()))
)
