"""Browser assistant: a question answered from web pages that the model searches and opens. Data of our own.

The pages come with the question: no network is used. Some are out of date, claim without evidence, or are
about something alike.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.agents.tool_loop import Tool, tool_loop
from loadgen.plugins.evals.grading.json_answer import plain
from loadgen.plugins.evals.headlines import metric_shares
from loadgen.plugins.evals.prompts import prompt
from loadgen.plugins.evals.tasks.benchmarks import benchmark
from loadgen.plugins.evals.tasks.use_cases import difficulty, graded_parts, judged, official
from workloads.episode_program import EpisodeProgram, EpisodeSample
from workloads.question import Question
from workloads.score import Score, unparsed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from loadgen.plugins.agents.episode import Ask, EpisodeResult
    from workloads.answer import Answer
    from workloads.scorer import Reference
    from workloads.workload import Inputs


_SYSTEM: Final = prompt("browser_assistant", "system")

_HITS: Final = 5
_SNIPPET: Final = 80
_WORD: Final = re.compile(r"\w+")
_ANSWER: Final = re.compile(r"^[*\s]*Answer:[*\s]*(.+)$", re.MULTILINE | re.IGNORECASE)
_SOURCES: Final = re.compile(r"^[*\s]*Sources?:(.+)$", re.MULTILINE | re.IGNORECASE)
_URL: Final = re.compile(r"https?://[^\s,;<>()\[\]\"'`*]+")
_FIGURES: Final = ("answer_right", "sources_right", "read")


def _schema(name: str, parameter: str, description: str, of_parameter: str) -> Mapping[str, Any]:
    properties = {parameter: {"type": "string", "description": of_parameter}}
    parameters = {"type": "object", "properties": properties, "required": [parameter]}
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    }


_SEARCH: Final = _schema(
    "search", "query", "Search the web: URL, title, date and beginning of the pages that fit best.", "Words."
)
_OPEN: Final = _schema("open_page", "url", "Read a page.", "Its URL, as `search` gives it.")


def questions(inputs: Inputs) -> Iterator[Question]:
    """One episode a question."""
    for index, row in enumerate(inputs.rows):
        pages = row["pages"]
        asked = f"{row['question']}\n\nThe pages that there are:\n" + "\n".join(map(page_text, pages))
        reference = {name: row[name] for name in ("answers", "required", "allowed", "criteria")}
        sample = EpisodeSample(
            index,
            row["question"],
            _SYSTEM,
            tools=(_SEARCH, _OPEN),
            tags=difficulty(row),
            episode=EpisodeProgram(f"{__name__}:play", {"pages": pages}),
        )
        yield Question(row["id"], sample, {**reference, "asked": asked})


async def play(sample: EpisodeSample, ask: Ask, sandbox: object) -> EpisodeResult:  # noqa: ARG001 (the contract)
    """Let the model search and read until the model answers."""
    pages: Sequence[Mapping[str, str]] = sample.episode.data["pages"]
    tools = [
        Tool(_SEARCH, lambda query: results_of(pages, query)),
        Tool(_OPEN, lambda url: opened(pages, url)),
    ]
    return await tool_loop(ask, sample.messages(), tools)


def results_of(pages: Sequence[Mapping[str, str]], query: str) -> str:
    """The five pages, at most, with the most words of a query, the best first."""
    words = set(_words(query))
    hits = {page["url"]: len(words & set(_words(f"{page['title']} {page['text']}"))) for page in pages}
    best = sorted((page for page in pages if hits[page["url"]]), key=lambda page: -hits[page["url"]])
    shown = [
        f"{page['url']}\n{page['title']} ({page['date']})\n{page['text'][:_SNIPPET]}…"
        for page in best[:_HITS]
    ]
    return "\n\n".join(shown) or "No page fits. Use other words."


def opened(pages: Sequence[Mapping[str, str]], url: str) -> str:
    """The text of a page."""
    for page in pages:
        if page["url"] == url.strip().rstrip("/"):
            return page_text(page)
    raise LookupError(f"no page {url}; take the URL from `search`")


def page_text(page: Mapping[str, str]) -> str:
    """The text of a page."""
    return f"{page['url']}\n{page['title']} ({page['date']})\n{page['text']}"


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def grade(reference: Reference, answer: Answer) -> Score:
    """Right for a right answer with exactly the required sources, all of which were opened."""
    answers, sources = _ANSWER.findall(answer.text), _SOURCES.findall(answer.text)
    if not answers or not sources:
        missing = "Answer" if not answers else "Sources"
        return unparsed(f"no line `{missing}:`", **dict.fromkeys(_FIGURES, 0.0))
    reply_answer = answers[-1].strip(" *")
    cited = {url.rstrip("/.") for url in _URL.findall(sources[-1])}
    required, allowed = set(reference["required"]), {*reference["required"], *reference["allowed"]}
    right = {
        "answer_right": plain(reply_answer) in map(plain, reference["answers"]),
        "sources_right": required <= cited <= allowed,
        "read": cited <= _opened_in(answer),
    }
    reasons = {
        "answer_right": "another answer",
        "sources_right": f"cites {', '.join(sorted(cited)) or 'nothing'}",
        "read": "cites a page that was not opened",
    }
    return graded_parts(right, reasons, reply_answer)


def _opened_in(answer: Answer) -> set[str]:
    """The URLs of the opened pages, from the beginnings of the page texts."""
    messages = answer.episode.messages if answer.episode is not None else ()
    results = [str(message.get("content")) for message in messages if message.get("role") == "tool"]
    return {result.partition("\n")[0] for result in results}


WORKLOAD: Final = benchmark(
    "browser_assistant",
    questions,
    official(
        grade,
        "an accepted answer, and exactly the pages that it rests on, all of them opened",
        *metric_shares(*_FIGURES),
    ),
    judged(grade),
)
