"""IFEval: 541 prompts with 834 instructions that a program can check (Zhou et al., arXiv:2311.07911).

Official are four figures of google-research's instruction_following_eval: of prompts, all of whose
instructions are followed, and of instructions; each strict, as the answer is, and loose, with its first or
last line or its asterisks left out. What an instruction asks for is in
`loadgen.plugins.evals.grading.ifeval_instructions`.
"""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from random import Random
from typing import TYPE_CHECKING, Any, Final, Literal

from lazy_dataclasses import dataclass
from loadgen.plugins.evals.grading.ifeval_instructions import IFEVAL, is_plain
from loadgen.plugins.evals.grading.instructions import INSTRUCTIONS, follows
from loadgen.plugins.evals.headlines import metric_means
from loadgen.plugins.evals.tasks.benchmarks import ScoreRule, benchmark
from workloads.cells import tag, text
from workloads.errors import ColumnError, TaskError
from workloads.nltk_data import offer
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, graded
from workloads.scorer import Headline, Reference

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from loadgen.plugins.evals.grading.instruction import Instruction
    from workloads.answer import Answer
    from workloads.sources import FileRow
    from workloads.workload import Inputs

_SEPARATOR: Final = " "
_DRAWS: Final = 10
_SPREAD: Final = (
    *("prompt_strict_lowest", "prompt_strict_highest"),
    *("prompt_loose_lowest", "prompt_loose_highest"),
)


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The verdicts on one answer; each list has one entry an instruction, in order."""

    strict: Sequence[bool]
    loose: Sequence[bool]


def questions(inputs: Inputs) -> Iterator[Question]:
    """One question a row; the instructions are a tag, for the share of each."""
    if inputs.data is not None:
        offer(inputs.data)
    for index, row in enumerate(inputs.rows):
        names, arguments = _instructions(row)
        reference = {"instruction_id_list": names, "kwargs": arguments}
        sample = Sample(index, text(row, "prompt"), tags={"instructions": _SEPARATOR.join(names)})
        yield Question(tag(row, "key"), sample, reference)


def _instructions(row: FileRow) -> tuple[list[str], list[dict[str, Any]]]:
    """The instructions of a row and the arguments, without null arguments."""
    names, options = row["instruction_id_list"], row["kwargs"]
    if (
        not isinstance(names, list)
        or not isinstance(options, list)
        or len(names) != len(options)
        or not names
    ):
        raise ColumnError(
            f"{row.place}: 'instruction_id_list' and 'kwargs' must be lists of one length, from 1 on"
        )
    arguments = [
        {key: value for key, value in (option or {}).items() if value is not None} for option in options
    ]
    for name, option in zip(names, arguments, strict=True):
        try:
            follows(name, option)
        except TaskError as error:
            raise ColumnError(f"{row.place}: {error}") from error
    return names, arguments


def grade(reference: Reference, answer: Answer) -> Score:
    """1 where every instruction is followed; the metrics have the rest."""
    return scored(reference, verdicts(reference, answer.text))


def grade_random(reference: Reference, answer: Answer) -> Score:
    """As `grade`, with the official chance; the metrics have the lowest and the highest of ten draws.

    Each draw has a seed made of the answer and its number, so that the same answer has the same score again.
    """
    if not any(map(draws, reference["instruction_id_list"], reference["kwargs"])):
        drawn = [verdicts(reference, answer.text)]
    else:
        seed = sha256(answer.text.encode("utf-8", "surrogatepass")).hexdigest()
        drawn = [verdicts(reference, answer.text, f"{seed}/{draw}") for draw in range(_DRAWS)]
    strict, loose = [all(each.strict) for each in drawn], [all(each.loose) for each in drawn]
    spread = zip(_SPREAD, (min(strict), max(strict), min(loose), max(loose)), strict=True)
    return scored(reference, drawn[0], dict(spread))


def require(reference: Reference) -> None:
    """Make sure that everything is there that the instructions of a prompt are checked with.

    Raises:
        TaskError: An instruction is not one, or has the wrong arguments.
        ExtraError, SourceError: A package, or its data, is missing.
    """
    for name, arguments in zip(reference["instruction_id_list"], reference["kwargs"], strict=True):
        follows(name, arguments)


def draws(name: str, arguments: Mapping[str, Any]) -> bool:
    """Whether the official code draws something at random to tell whether an instruction is followed."""
    return INSTRUCTIONS[name].by_chance and not is_plain(arguments.get("letter", ""))


def verdicts(
    reference: Reference,
    text: str,
    seed: str | None = None,
    instructions: Mapping[str, Instruction] = INSTRUCTIONS,
) -> Verdicts:
    """Compare an answer with the row's instructions."""
    asked = list(zip(reference["instruction_id_list"], reference["kwargs"], strict=True))
    loosened = variants(text)

    def followed(texts: Sequence[str], layer: str) -> list[bool]:
        chance = None if seed is None else Random(f"{seed}/{layer}")  # noqa: S311 (no secret)
        checks = [follows(name, arguments, chance, instructions) for name, arguments in asked]
        return [any(text.strip() and check(text) for text in texts) for check in checks]

    return Verdicts(followed([text], "strict"), followed(loosened, "loose"))


def variants(text: str) -> list[str]:
    """The eight variants of the loose figures, without duplicates; the answer is the first."""
    lines = text.split("\n")
    shorter = ["\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1])]
    shortened = [text, *shorter]
    return list(
        dict.fromkeys(
            [text, text.replace("*", ""), *shorter, *(variant.replace("*", "") for variant in shortened)]
        )
    )


def scored(
    reference: Reference,
    verdicts: Verdicts,
    more: Mapping[str, float] | None = None,
    *,
    by: Literal["strict", "loose"] = "strict",
) -> Score:
    """The score of an answer, with how many instructions were followed: of all, each kind and each id."""
    names = reference["instruction_id_list"]
    layers = {"strict": verdicts.strict, "loose": verdicts.loose}
    metrics: dict[str, float] = {
        f"prompt_{layer}": all(followed) for layer, followed in layers.items() if layer != by
    } | dict(more or {})
    for layer, followed in layers.items():
        metrics[layer] = sum(followed)
        done = [name for name, is_followed in zip(names, followed, strict=True) if is_followed]
        for part, count in Counter([*done, *map(_kind, done)]).items():
            metrics[f"{layer}:{part}"] = count
    missed = [name for name, is_followed in zip(names, layers[by], strict=True) if not is_followed]
    return graded(
        not missed,
        f"{sum(verdicts.strict)} of {len(names)}, loosely {sum(verdicts.loose)}",
        f"not followed: {', '.join(missed)}" if missed else "",
        **{name: float(value) for name, value in metrics.items()},
    )


def _kind(name: str) -> str:
    return name.partition(":")[0] + ":"


def _share(layer: str, part: str) -> str:
    """The share of followed instructions among those with an id prefix."""
    followed = f"sum(coalesce(metrics['{layer}:{part}'], 0))"
    return f"{followed} / nullif(sum(len(string_split(tags['instructions'], '{part}')) - 1), 0)"


def shares(layer: str, names: Collection[str]) -> Iterator[Headline]:
    """The shares of each kind and of each instruction, as at the end of the official report."""
    kinds = sorted(set(map(_kind, names)))
    for part in [*kinds, *sorted(names)]:
        yield Headline(f"{layer}_{part.rstrip(':').replace(':', '_')}", _share(layer, part))


_ASKED: Final = f"sum(len(string_split(tags['instructions'], '{_SEPARATOR}')))"

INSTRUCTION_SHARES: Final = {
    layer: Headline(f"inst_{layer}", f"sum(coalesce(metrics['{layer}'], 0)) / {_ASKED}")
    for layer in ("strict", "loose")
}
"""Of the instructions of all prompts, those that are followed."""

_HEADLINES: Final = (
    Headline("prompt_strict"),
    INSTRUCTION_SHARES["strict"],
    *metric_means("prompt_loose"),
    INSTRUCTION_SHARES["loose"],
    *shares("strict", IFEVAL),
    *shares("loose", IFEVAL),
)


WORKLOAD: Final = benchmark(
    "ifeval",
    questions,
    official=ScoreRule(grade, require=require, headlines=_HEADLINES),
    official_random=ScoreRule(
        grade_random, require=require, headlines=(*_HEADLINES, *metric_means(*_SPREAD))
    ),
)
