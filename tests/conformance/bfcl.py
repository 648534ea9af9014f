"""BFCL: outputs of four models of 2024, with the verdicts of version 1, and those of version 4's checker.

Verdicts are equal only where the errors are, too. Those of version 4 were made with version 1's handling of
texts, which puts brackets around those of one model, and strips blanks for none: `as recorded` is the checker
on what was decoded like that. `official` is the whole way of version 4, which strips blanks for all.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.grading.bfcl import first_version, official
from loadgen.plugins.evals.grading.bfcl.allowed import standard
from loadgen.plugins.evals.grading.bfcl.decoding import calls_in, decoded, guarded
from loadgen.plugins.evals.grading.json_calls import UndecodableError, are_calls
from loadgen.plugins.evals.tasks.bfcl import CATEGORIES
from loadgen.plugins.evals.tasks.bfcl_functions import signature
from tests.conformance.agreement import Agreement
from workloads.answer import Answer
from workloads.question_loading import load
from workloads.task import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from workloads.score import Score

NEEDS: Final = ("bfcl_v1", "bfcl_v4")

_FIRST: Final = {
    "simple_python": "simple",
    "simple_java": "java",
    "simple_javascript": "javascript",
    "multiple": "multiple_function",
    "parallel": "parallel_function",
    "parallel_multiple": "parallel_multiple_function",
    "irrelevance": "relevance",
}
_PREFIX: Final = "gorilla_openfunctions_v1_test_"
_BLANKS: Final = "were decoded with the blanks before them, which version 4 strips"
_LISTS: Final = "pass a list of JSON, of which the record's checker read the text that Python writes"


@dataclass(frozen=True, slots=True)
class Recorded:
    """One output and the verdicts on it.

    Attributes:
        model: Whose.
        place: `category index`, for the reader.
        output: Text, or calls of tools.
        first: The question of version 1, as a reference.
        fourth: That of version 4.
        passed: The verdict of version 1: whether it is right, and the error.
        verdict: That of version 4.
    """

    model: str
    place: str
    output: Any
    first: Mapping[str, Any]
    fourth: Mapping[str, Any]
    passed: tuple[bool, str | None]
    verdict: tuple[bool, str | None]


def agreements(data: Path) -> Iterator[Agreement]:
    """Three lines a model, and the shortcuts over all."""
    everything = list(_recorded(data))
    for model, rows in groupby(everything, key=lambda case: case.model):
        recorded = list(rows)
        yield _line(f"bfcl/v1, {model}", recorded, _is_first)
        yield _line(f"bfcl checker of v4, as recorded, {model}", recorded, _as_recorded)
        differ = [case for case in recorded if not _is_official(case)]
        exceptions = Counter(filter(None, map(_reason, differ)))
        line = _line(
            f"bfcl/official, {model}", recorded, lambda case: _is_official(case) or bool(_reason(case))
        )
        yield Agreement(line.scorer, len(recorded), len(recorded) - len(differ), exceptions, line.wrong)
    compared = [case for case in everything if "answers" in case.fourth]
    for name, rule in (("exact equality", _exact), ("number of calls", _counted)):
        agree = sum(rule(case) == case.verdict[0] for case in compared)
        yield Agreement(f"bfcl shortcut: {name}", len(compared), agree, shortcut=True)


def _line(scorer: str, recorded: list[Recorded], agrees: Callable[[Recorded], bool]) -> Agreement:
    wrong = tuple(f"{case.place}: {case.output!r:.150}" for case in recorded if not agrees(case))
    return Agreement(scorer, len(recorded), len(recorded) - len(wrong), wrong=wrong)


def _is_first(case: Recorded) -> bool:
    score = first_version.grade(case.first, _answer(_handled(case)))
    error = None if score.value == 1 else score.reason.split(": ")[0]
    return (score.value == 1, error) == case.passed


def _as_recorded(case: Recorded) -> bool:
    """Version 4's checker on what was decoded as it was then."""
    output = _handled(case)
    if not isinstance(output, str):
        return _is_official(case)
    language = "python" if case.fourth["category"] == "irrelevance" else case.fourth["language"]
    try:
        score = official.judged(case.fourth, guarded(calls_in, output, language))
    except UndecodableError as error:
        score = official.undecoded(case.fourth, str(error))
    return _verdict(score) == case.verdict


def _is_official(case: Recorded) -> bool:
    return _verdict(official.grade(case.fourth, _answer(case.output))) == case.verdict


def _reason(case: Recorded) -> str:
    """Why the verdict of version 4 need not be ours; empty where there is no reason."""
    if _has_blanks(case):
        return _BLANKS
    return _LISTS if _has_lists(case) else ""


def _has_lists(case: Recorded) -> bool:
    """Whether an argument of Java or JavaScript is JSON's list or object, and no text of the language."""
    if isinstance(case.output, str) or case.fourth["language"] == "python":
        return False
    arguments = [json.loads(written) for call in case.output for written in call.values()]
    values = [value for argument in arguments if isinstance(argument, Mapping) for value in argument.values()]
    return any(isinstance(value, list | dict) for value in values)


def _has_blanks(case: Recorded) -> bool:
    return isinstance(case.output, str) and case.output != case.output.strip()


def _verdict(score: Score) -> tuple[bool, str | None]:
    """A score as the verdicts have it, which name no error where something else than calls was decoded."""
    error = score.reason.split(": ")[0].removeprefix("ast_decoder:") or None
    unnamed = {"decoder_wrong_output_format", "irrelevance_error:decoder_success"}
    return score.value == 1, None if error in unnamed else error


def _answer(output: Any) -> Answer:
    if isinstance(output, str):
        return Answer(output)
    functions = [next(iter(call.items())) for call in output]
    return Answer("", tool_calls=tuple({"function": {"name": n, "arguments": a}} for n, a in functions))


def _handled(case: Recorded) -> Any:
    """An output as version 1 handed it to its decoder: Claude's texts in brackets."""
    output = case.output
    if case.model.startswith("claude") and isinstance(output, str):
        output = output.removeprefix(" ")
        output = output if output.startswith("[") else f"[{output}"
        output = output if output.endswith("]") else f"{output}]"
    return output


def _exact(case: Recorded) -> bool:
    """A shortcut: the arguments equal the first values that are allowed, normalized."""
    calls, mode = _calls(case), case.fourth["mode"]
    expected = [
        {
            (name.replace(".", "_") if mode == "fc" else name): {
                key: values[0] for key, values in allowed.items()
            }
        }
        for call in case.fourth["answers"]
        for name, allowed in call.items()
    ]
    return calls is not None and _normal(calls) == _normal(expected)


def _counted(case: Recorded) -> bool:
    """A shortcut: as many calls as are expected."""
    calls = _calls(case)
    return calls is not None and len(calls) == len(case.fourth["answers"])


def _calls(case: Recorded) -> Any:
    try:
        calls = decoded(_answer(case.output), case.fourth["mode"], case.fourth["language"])
    except UndecodableError:
        return None
    return calls if are_calls(calls) else None


def _normal(calls: list[dict[str, dict[str, Any]]]) -> list[str]:
    return sorted(
        repr((name, sorted((str(key), repr(standard(value))) for key, value in arguments.items())))
        for call in calls
        for name, arguments in call.items()
    )


def _recorded(data: Path) -> Iterator[Recorded]:
    names = "+".join(_FIRST)
    fourth = {
        mode: {
            case.id: case.reference
            for case in load(parse(f"bfcl:category={names},mode={mode}"), data).questions
        }
        for mode in ("fc", "prompt")
    }
    first = {name: list(_first_questions(data, name)) for name in _FIRST}
    outputs = dict[str, Mapping[tuple[str, str], Any]]()
    errors = dict[str, Mapping[tuple[str, str], str]]()
    for row in _rows(data / "bfcl_v1/oracle_v4_verdicts.jsonl.gz"):
        model, category, index = row["model"], row["category"], row["index"]
        mode = "fc" if model.endswith("FC") else "prompt"
        if model not in outputs:
            outputs[model], errors[model] = _outputs(data, model), _errors(data, model)
        place = _FIRST[category], str(index)
        yield Recorded(
            model,
            f"{category} {index}",
            outputs[model][place],
            {**first[category][index], "mode": mode},
            fourth[mode][row["id"]],
            (row["v1_recorded_valid"], errors[model].get(place)),
            (row["valid"], row["error_type"]),
        )


def _outputs(data: Path, model: str) -> dict[tuple[str, str], Any]:
    rows = _rows(data / f"bfcl_v1/result_{model}.jsonl.gz")
    return {
        (
            row["file"].removeprefix(_PREFIX).removesuffix("_result.json"),
            row["row"]["id"].rpartition("_")[2],
        ): (row["row"]["result"])
        for row in rows
    }


def _errors(data: Path, model: str) -> Mapping[tuple[str, str], str]:
    """The errors of version 1, which counts from 1 and calls irrelevance relevance."""
    rows = _rows(data / f"bfcl_v1/score_{model}.jsonl.gz")
    return {
        (row["file"].removesuffix("_score.json"), str(row["row"]["id"] - 1)): (
            row["row"]["error_type"].replace("relevance_error", "irrelevance_error")
        )
        for row in rows
        if "id" in row["row"]
    }


def _first_questions(data: Path, category: str) -> Iterator[Mapping[str, Any]]:
    """The references of version 1, in which two calls of one function have numbers after its name."""
    file = f"{_PREFIX}{_FIRST[category]}.json.gz"
    answers = data / f"bfcl_v1/possible_answer__{file}"
    expected = [row["ground_truth"] for row in _rows(answers)] if answers.exists() else []
    for index, row in enumerate(_rows(data / "bfcl_v1" / file)):
        functions = row["function"] if isinstance(row["function"], list) else [row["function"]]
        reference: dict[str, Any] = {"category": category, "language": CATEGORIES[category].language}
        if expected:
            reference["functions"] = [signature(function) for function in functions]
            reference["answers"] = [{name: allowed} for name, allowed in expected[index].items()]
        yield reference


def _rows(path: Path) -> Iterator[Any]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)
