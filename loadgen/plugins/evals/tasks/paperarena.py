"""PaperArena: questions over scientific papers, for agents with tools (Melmaphother/PaperArena).

Every kind of answer is judged. A reply of the judge that is not as asked for counts as wrong, officially; the
figure `parsed` is over the others. `exact` needs no judge for choices and concise answers.

With a folder of papers, each question is an episode with the tools of Melmaphother/PaperArena at 35e4a83d,
`paperarena_hub/tools`, without those that need a second model or the web. Where that code asks a model (to
match passages, keywords or citations, to read figures), words are compared.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.agents.tool_loop import Tool, tool_loop
from loadgen.plugins.evals.grading.json_answer import object_between_braces, plain
from loadgen.plugins.evals.headlines import score_of
from loadgen.plugins.evals.judging.judge_prompts import judge_prompts
from loadgen.plugins.evals.tasks import baseline
from loadgen.plugins.evals.tasks.benchmarks import ScoreRule, benchmark
from workloads.cells import tag, text
from workloads.episode_program import EpisodeProgram, EpisodeSample
from workloads.errors import SourceError
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, graded, pending, unparsed, with_replies
from workloads.scorer import Headline, Inquiry, Reference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

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
    schemas = tuple(tool.schema for tool in paper_tools(folder))
    return EpisodeSample.of(
        replace(sample, prompt=prompt, system=_SYSTEM, tools=schemas),
        EpisodeProgram(f"{__name__}:play", files={"papers": str(folder)}),
    )


async def play(sample: EpisodeSample, ask: Ask, sandbox: object) -> EpisodeResult:  # noqa: ARG001 (the contract)
    """Let the model use the tools until the model answers."""
    return await tool_loop(ask, sample.messages(), paper_tools(Path(sample.episode.files["papers"])))


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
    match object_between_braces(reply):
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
    baseline.paperarena(),
    official=ScoreRule(
        grade,
        headlines=(
            Headline("accuracy"),
            Headline("parsed", "avg(value) FILTER (coalesce(metrics['invalid_reply'], 0) = 0)"),
            *(Headline(name, score_of("qa_type", title)) for name, title in _TYPES.items()),
        ),
        ask=ask,
        judge=_PROMPTS.label,
    ),
    exact=ScoreRule(
        grade_exact,
        headlines=(
            Headline("accuracy", f"avg(value) FILTER (tags['qa_type'] <> '{_TYPES['open']}')"),
            *(
                Headline(name, f"avg(value) FILTER (tags['qa_type'] = '{_TYPES[name]}')")
                for name in ("multi_choice", "concise")
            ),
        ),
    ),
)

MOST_CHARACTERS: Final = 2_000

_CONFERENCES: Final = ("icml", "iclr", "nips", "cvpr", "www")
_RANKS: Final = {
    "top": frozenset({"Oral", "Award Candidate"}),
    "medium": frozenset({"Spotlight", "Highlight"}),
    "standard": frozenset({"Poster"}),
}
_ALL: Final = "all"
_SHOWN_PAPERS: Final = 3
_HEADING: Final = re.compile(r"^(?:#+\s*)?references\s*$", re.IGNORECASE | re.MULTILINE)
_NEXT_HEADING: Final = re.compile(r"^#+\s+", re.MULTILINE)
_WORD: Final = re.compile(r"\w+")
_KINDS: Final = {
    "figure": ("image", "image_caption", r"(?:figure|fig\.?)"),
    "table": ("table", "table_caption", r"(?:table|tab\.?)"),
}


def paper_tools(folder: Path) -> list[Tool]:
    """The paper_tools.

    Args:
        folder: With `sampled_jsons/NAME/auto/NAME.md` and `NAME_content_list.json` for each paper, and
            `selected_papers/CONFERENCEYEAR.json`.
    """
    name = {"pdf_name": _described("The name of the PDF file, without .pdf.")}

    def beginning(pdf_name: str) -> str:
        return _cut(_markdown(folder, pdf_name))

    def passages(pdf_name: str, query: str) -> str:
        parts = re.split(r"\n\s*\n", _markdown(folder, pdf_name))
        wanted = _word_set(query)
        ranked = sorted(parts, key=lambda part: -len(wanted & _word_set(part)))
        return _cut("\n\n".join(part for part in ranked if wanted & _word_set(part))) or "No passage fits."

    def citation(pdf_name: str, citation_key: str) -> str:
        return _citation(_markdown(folder, pdf_name), citation_key)

    def search(conference: str, year: int, status: str, keywords: str) -> str:
        return _search(folder, conference.lower(), int(year), status.lower(), keywords.lower())

    def shown(pdf_name: str, content_type: str, index: int) -> str:
        return _figure_or_table(folder, pdf_name, content_type.lower(), int(index))

    of_database = {
        "conference": _described("One of " + ", ".join(_CONFERENCES) + "."),
        "year": {"type": "integer", "description": "Of the conference."},
        "status": _described("top, medium, standard or all."),
        "keywords": _described("What titles or abstracts must have, one of several separated by commas."),
    }
    of_content = {
        "content_type": _described("figure or table."),
        "index": {"type": "integer", "description": "Its number."},
    }
    return [
        _tool("pdf_extractor", "The beginning of a paper.", name, beginning),
        _tool(
            "pdf_extractor_with_query",
            "The passages of a paper that fit a query best.",
            {**name, "query": _described("Words.")},
            passages,
        ),
        _tool(
            "cross_ref_lookup",
            "What the references of a paper say of a citation.",
            {**name, "citation_key": _described("Such as `Thudi et al., 2024`.")},
            citation,
        ),
        _tool("database_search", "How many papers of a conference fit keywords.", of_database, search),
        _tool(
            "data_analyzer", "A table of a paper, or the caption of a figure.", {**name, **of_content}, shown
        ),
    ]


def _tool(name: str, description: str, properties: Mapping[str, Any], function: Callable[..., str]) -> Tool:
    parameters = {"type": "object", "properties": dict(properties), "required": list(properties)}
    declared = {"name": name, "description": description, "parameters": parameters}
    return Tool({"type": "function", "function": declared}, function)


def _described(description: str) -> dict[str, str]:
    return {"type": "string", "description": description}


def _parsed(folder: Path, pdf_name: str, suffix: str) -> Path:
    """A file of a paper."""
    papers = {path.name: path for path in (folder / "sampled_jsons").iterdir()}
    name = pdf_name.removesuffix(".pdf")
    path = papers[name] / "auto" / f"{name}{suffix}" if name in papers else None
    if path is None or not path.is_file():
        raise LookupError(f"no paper {pdf_name}")
    return path


def _markdown(folder: Path, pdf_name: str) -> str:
    return _parsed(folder, pdf_name, ".md").read_text(encoding="utf-8")


def _cut(text: str) -> str:
    if len(text) <= MOST_CHARACTERS:
        return text
    return f"{text[:MOST_CHARACTERS]}\n\n... (cut at {MOST_CHARACTERS} characters)"


def _word_set(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}


def _citation(text: str, key: str) -> str:
    """The reference with the most words of a key, of the last section of references."""
    headings = list(_HEADING.finditer(text))
    if not headings:
        return "The paper has no section of references."
    section = text[headings[-1].end() :]
    following = _NEXT_HEADING.search(section)
    lines = [
        line for line in section[: following.start() if following else None].splitlines() if line.strip()
    ]
    wanted = _word_set(key) - {"et", "al", "and"}
    best = max(lines, key=lambda line: len(wanted & _word_set(line)), default="")
    return best if wanted & _word_set(best) else f"No reference fits {key}."


def _search(folder: Path, conference: str, year: int, status: str, keywords: str) -> str:
    if conference not in _CONFERENCES:
        raise ValueError(f"conference must be one of {', '.join(_CONFERENCES)}")
    if status not in {*_RANKS, _ALL}:
        raise ValueError(f"status must be one of {', '.join((*_RANKS, _ALL))}")
    path = folder / "selected_papers" / f"{conference}{year}.json"
    if not path.is_file():
        raise LookupError(f"no database of {conference} {year}")
    papers: Sequence[Mapping[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    terms = [term.strip() for term in keywords.split(",") if term.strip()]
    fitting = [
        paper
        for paper in papers
        if (status == _ALL or paper.get("status") in _RANKS[status])
        and any(term in f"{paper.get('title', '')} {paper.get('abstract', '')}".lower() for term in terms)
    ]
    counts: dict[str, int] = {}
    for paper in fitting:
        counts[str(paper.get("status"))] = counts.get(str(paper.get("status")), 0) + 1
    lines = [
        f"Papers in the database: {len(papers)}",
        f"Papers that fit: {len(fitting)}",
        *(f"- {name}: {count}" for name, count in sorted(counts.items())),
        *(f"[{paper.get('status')}] {paper.get('title')}" for paper in fitting[:_SHOWN_PAPERS]),
    ]
    return "\n".join(lines)


def _figure_or_table(folder: Path, pdf_name: str, kind: str, index: int) -> str:
    """A table with caption, or the caption of a figure (images are not shown)."""
    if kind not in _KINDS:
        raise ValueError(f"content_type must be one of {', '.join(_KINDS)}")
    block_type, captions, word = _KINDS[kind]
    blocks = json.loads(_parsed(folder, pdf_name, "_content_list.json").read_text(encoding="utf-8"))
    named = re.compile(rf"{word}\s*{index}[\s:.]", re.IGNORECASE)
    for block in blocks:
        if block.get("type") == block_type and any(map(named.search, block.get(captions) or ())):
            return _cut("\n".join([*block[captions], str(block.get("table_body", ""))]).strip())
    raise LookupError(f"no {kind} {index} in {pdf_name}")
