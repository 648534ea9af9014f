"""The Berkeley Function-Calling Leaderboard, version 4: the categories of one turn.

Data and definition are those of `ShishirPatil/gorilla`, which the package `bfcl-eval` holds as well. The
categories of several turns are another benchmark, `bfcl_multi_turn`; memory and web search are not asked.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

from lazy_dataclasses import dataclass
from loadgen.plugins.evals.grading.bfcl import first_version, official
from loadgen.plugins.evals.grading.bfcl.source_calls import parser
from loadgen.plugins.evals.headlines import score_of
from loadgen.plugins.evals.tasks.benchmarks import ScoreRule, benchmark
from loadgen.plugins.evals.tasks.bfcl_functions import as_tools, signature, system_prompt, with_hints
from workloads.errors import ColumnError, TaskError, did_you_mean
from workloads.question import Question
from workloads.sample import Sample, last_text
from workloads.scorer import Headline
from workloads.workload import Inputs, Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from workloads.sources import FileRow

COMMIT: Final = "6ea57973c7a6097fd7c5915698c54c17c5b1b6c8"
_PUBLISHED: Final = (
    f"https://raw.githubusercontent.com/ShishirPatil/gorilla/{COMMIT}/berkeley-function-call-leaderboard/"
    "bfcl_eval/data"
)
FILES: Final = "BFCL_v4_"
"""With what the names of the files of questions begin."""


@dataclass(frozen=True, slots=True)
class Category:
    """A part of the benchmark; one without answers is only about whether there is a call."""

    rows: int
    group: str
    language: Literal["python", "java", "javascript"] = "python"
    answered: bool = True


CATEGORIES: Final[Mapping[str, Category]] = {
    "simple_python": Category(400, "non_live"),
    "simple_java": Category(100, "non_live", "java"),
    "simple_javascript": Category(50, "non_live", "javascript"),
    "multiple": Category(200, "non_live"),
    "parallel": Category(200, "non_live"),
    "parallel_multiple": Category(200, "non_live"),
    "irrelevance": Category(240, "non_live", answered=False),
    "live_simple": Category(258, "live"),
    "live_multiple": Category(1053, "live"),
    "live_parallel": Category(16, "live"),
    "live_parallel_multiple": Category(24, "live"),
    "live_irrelevance": Category(884, "live", answered=False),
    "live_relevance": Category(16, "live", answered=False),
}
_MODES: Final = ("fc", "prompt", "auto")


def questions(inputs: Inputs) -> Iterator[Question]:
    """The questions of the chosen categories, in the given order."""
    mode, index = inputs.options["mode"], 0
    if mode not in _MODES:
        raise TaskError(f"bfcl: mode={mode}: must be one of {', '.join(_MODES)}{did_you_mean(mode, _MODES)}")
    for name in chosen(inputs.options["category"]):
        category = CATEGORIES[name]
        if mode != "fc" and category.language != "python":
            parser(category.language)
        rows = inputs.more(name)
        answers = inputs.more(answers_of(name)) if category.answered else [None] * len(rows)
        for row, answer in zip(rows, as_many(rows, answers), strict=True):
            yield _question(index, row, answer, name, mode)
            index += 1


def chosen(text: str) -> Sequence[str]:
    """Parse the option `category`: names of categories or of groups, with `+` between."""
    groups = {
        "all": set(CATEGORIES),
        "non_live": {name for name, category in CATEGORIES.items() if category.group == "non_live"},
        "live": {name for name, category in CATEGORIES.items() if category.group == "live"},
        "python": {name for name, category in CATEGORIES.items() if category.language == "python"},
    }
    wanted: set[str] = set()
    for part in text.split("+"):
        if part not in groups and part not in CATEGORIES:
            choices = (*groups, *CATEGORIES)
            raise TaskError(
                f"bfcl: category={text}: there is no {part!r}{did_you_mean(part, choices)}; "
                f"there are {', '.join(choices)}, and several of them with + between"
            )
        wanted |= groups.get(part, {part})
    return [name for name in CATEGORIES if name in wanted]


def answers_of(category: str) -> str:
    """The name of the source of a category's answers."""
    return f"{category} answers"


def as_many(rows: Sequence[FileRow], answers: Sequence[Any]) -> Sequence[Any]:
    """The answers, where there are as many as questions."""
    if len(rows) != len(answers):
        raise ColumnError(
            f"{answers[0].place.partition(',')[0]}: {len(answers)} answers to {len(rows)} questions; "
            "take both files from one release"
        )
    return answers


def _question(index: int, row: FileRow, answer: FileRow | None, name: str, mode: str) -> Question:
    """One question: the functions as tools of the request, or in the system prompt."""
    category = CATEGORIES[name]
    functions, messages = _functions(row), _messages(row)
    tools = [with_hints(function, category.language) for function in functions]
    if mode == "prompt":
        messages = _with_system(messages, system_prompt(tools))
    sample = Sample(
        index,
        last_text([message for message in messages if message.get("role") == "user"]),
        chat=tuple(messages),
        tools=() if mode == "prompt" else as_tools(tools),
        tags={"category": name, "group": category.group, "language": category.language},
    )
    reference: dict[str, Any] = {"category": name, "mode": mode, "language": category.language}
    if answer is not None:
        reference["functions"] = [signature(function) for function in functions]
        reference["answers"] = _expected(row, answer, functions)
    return Question(row["id"], sample, reference, empty_is_answer=name in official.IRRELEVANCE)


def _with_system(messages: Sequence[Mapping[str, Any]], prompt: str) -> list[Mapping[str, Any]]:
    """The messages with a system prompt in front."""
    first, *others = messages
    if first["role"] == "system":
        return [{"role": "system", "content": f"{prompt}\n\n{first['content']}"}, *others]
    return [{"role": "system", "content": prompt}, *messages]


def _messages(row: FileRow) -> list[Mapping[str, Any]]:
    match row["question"]:
        case [[{"role": _}, *_] as messages]:
            return list(messages)
    raise ColumnError(f"{row.place}: 'question' must be a list of one turn, which is a list of messages")


def _functions(row: FileRow) -> list[Mapping[str, Any]]:
    functions = row["function"]
    for function in functions if isinstance(functions, list) else [None]:
        match function:
            case {"name": str(), "description": str(), "parameters": {"properties": dict()}}:
                continue
        raise ColumnError(
            f"{row.place}: 'function' must be a list of objects with 'name', 'description' and 'parameters'"
        )
    return list(functions)


def _expected(row: FileRow, answer: FileRow, functions: Sequence[Mapping[str, Any]]) -> list[Any]:
    """The calls that are right."""
    if answer["id"] != row["id"]:
        raise ColumnError(f"{answer.place}: the answer to {answer['id']!r}, where {row['id']!r} should be")
    names = [function["name"] for function in functions]
    expected = answer["ground_truth"]
    if not isinstance(expected, list) or not all(
        isinstance(call, dict) and not call.keys().isdisjoint(names) for call in expected
    ):
        raise ColumnError(f"{answer.place}: 'ground_truth' must be a list of calls of {', '.join(names)}")
    return expected


def published(file: str, columns: tuple[str, ...], folder: str = "", rows: int | None = None) -> Source:
    """A file of the benchmark, in the repository's layout or in a flat folder."""
    flat = f"{folder}__{file}*" if folder else f"{file}*"
    inside = f"{folder}/{file}*" if folder else f"{file}*"
    return Source(
        files=tuple(dict.fromkeys((inside, flat, f"bfcl_v4/{inside}", f"bfcl_v4/{flat}", f"{file}*"))),
        columns=columns,
        rows=rows,
        revision=COMMIT,
        licence="Apache-2.0",
        urls=("/".join(filter(None, (_PUBLISHED, folder, file))),),
    )


def _source(category: str, folder: str = "", column: str = "question") -> Source:
    return published(f"{FILES}{category}.json", ("id", column), folder, CATEGORIES[category].rows)


_share = partial(score_of, "category")
_LIVE: Final = (
    "tags['category'] IN ('live_simple', 'live_multiple', 'live_parallel', 'live_parallel_multiple')"
)
HEADLINES: Final = (
    Headline("accuracy"),
    Headline(
        "non_live",
        f"(({_share('simple_python')} + {_share('simple_java')} + {_share('simple_javascript')}) / 3 "
        f"+ {_share('multiple')} + {_share('parallel')} + {_share('parallel_multiple')}) / 4",
    ),
    Headline(
        "live",
        f"CASE WHEN count(DISTINCT tags['category']) FILTER ({_LIVE}) = 4 "
        f"THEN avg(value) FILTER ({_LIVE}) END",
    ),
    Headline("hallucination", f"({_share('irrelevance')} + {_share('live_irrelevance')}) / 2"),
    Headline("relevance", _share("live_relevance")),
)
"""The last four are columns of the leaderboard, where all of their categories were asked. Its overall score
is not among them: 70 % of it are categories of several turns, and of agents."""

_QUESTIONS: Final = {name: _source(name) for name in CATEGORIES}

WORKLOAD: Final = benchmark(
    "bfcl",
    questions,
    source=Source(
        files=(f"{FILES}*.json*", f"bfcl_v4/{FILES}*.json*"),
        columns=("id", "question", "function"),
        revision=COMMIT,
        licence="Apache-2.0",
        urls=_QUESTIONS["simple_python"].urls,
    ),
    further={
        **_QUESTIONS,
        **{
            answers_of(name): _source(name, "possible_answer", "ground_truth")
            for name, category in CATEGORIES.items()
            if category.answered
        },
    },
    official=ScoreRule(official.grade, headlines=HEADLINES, require=official.require),
    v1=ScoreRule(first_version.grade, headlines=HEADLINES, require=official.require),
)
