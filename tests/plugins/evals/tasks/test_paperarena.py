"""PaperArena without a judge, and its tools over a folder of papers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.plugins.evals.tasks.paperarena import WORKLOAD, grade_exact, letters_in, paper_tools
from tests.plugins.evals.tasks.scripted import ScriptedAsk, calling, played, saying
from workloads.answer import Answer
from workloads.errors import SourceError
from workloads.question_loading import load
from workloads.score import Status
from workloads.task import parse

if TYPE_CHECKING:
    from pathlib import Path

PAPER = """# A paper

We train on 8 GPUs.

## Method

The learning rate is 0.1 for the encoder.

# References

Thudi, A. and Doe, J. Forgetting well. 2024.
Roe, R. Remembering. 2023.

# Appendix

More about the learning rate.
"""


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    """One paper, and a conference of three."""
    folder = tmp_path / "papers"
    auto = folder / "sampled_jsons" / "P1" / "auto"
    auto.mkdir(parents=True)
    (auto / "P1.md").write_text(PAPER)
    blocks = [
        {"type": "image", "image_caption": ["Figure 2: Loss."], "img_path": "x.png"},
        {"type": "table", "table_caption": ["Table 1: Results."], "table_body": "<td>5</td>"},
    ]
    (auto / "P1_content_list.json").write_text(json.dumps(blocks))
    (folder / "selected_papers").mkdir()
    listed = [
        {"title": "Graphs", "abstract": "a", "status": "Oral"},
        {"title": "Text", "abstract": "of GRAPHS", "status": "Poster"},
        {"title": "Images", "abstract": "b", "status": "Poster"},
    ]
    (folder / "selected_papers" / "icml2024.json").write_text(json.dumps(listed))
    return folder


def test_the_tools(papers: Path) -> None:
    """Beginnings, passages, references, counts and tables; what is not there is said by an error."""
    by_name = {tool.name: tool.function for tool in paper_tools(papers)}
    assert by_name["pdf_extractor"]("P1").startswith("# A paper")
    assert by_name["pdf_extractor_with_query"]("P1.pdf", "encoder rate").startswith(
        "The learning rate is 0.1"
    )
    assert by_name["pdf_extractor_with_query"]("P1", "zebra") == "No passage fits."
    assert by_name["cross_ref_lookup"]("P1", "Thudi et al., 2024").startswith("Thudi, A.")
    assert by_name["cross_ref_lookup"]("P1", "Nobody, 1999") == "No reference fits Nobody, 1999."
    counts = by_name["database_search"]("ICML", 2024, "all", "graphs, trees")
    assert "Papers that fit: 2\n- Oral: 1\n- Poster: 1\n" in counts
    assert "Papers that fit: 1\n" in by_name["database_search"]("icml", 2024, "standard", "graphs")
    assert by_name["data_analyzer"]("P1", "table", 1) == "Table 1: Results.\n<td>5</td>"
    assert by_name["data_analyzer"]("P1", "figure", 2) == "Figure 2: Loss."
    for name, arguments in (
        ("pdf_extractor", ("../P1",)),
        ("data_analyzer", ("P1", "table", 2)),
        ("database_search", ("icml", 1999, "all", "x")),
    ):
        with pytest.raises(LookupError):
            by_name[name](*arguments)
    with pytest.raises(ValueError, match="must be one of"):
        by_name["database_search"]("acl", 2024, "all", "x")


def test_an_episode_with_tools(tmp_path: Path, papers: Path) -> None:
    """The model gets the name of the paper, and answers after its calls."""
    row = {
        "qa_id": 7,
        "question": "Which rate?",
        "answer": "0.1",
        "qa_type": "Concise Answer",
        "difficulty": "easy",
        "pdf_name": "P1",
    }
    (tmp_path / "qa.jsonl").write_text(json.dumps(row))
    (question,) = load(parse(f"paperarena:papers={papers}"), tmp_path).questions
    assert question.sample.prompt.endswith("The question is about the paper P1.")
    calls = [
        ("pdf_extractor_with_query", {"pdf_name": "P1", "query": "rate"}),
        ("pdf_extractor", {"pdf_name": "P9"}),
    ]
    ask = ScriptedAsk([calling(*calls), saying("It is there.\nAnswer: 0.1.")])
    answer = played(question, ask)
    assert [tool.result for tool in ask.tools][1] == "Error: LookupError: no paper P9"
    assert grade_exact(question.reference, answer).value == 1
    with pytest.raises(SourceError, match="does not exist"):
        load(parse(f"paperarena:papers={tmp_path}"), tmp_path)


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("B", "B"),
        ("A, C", "AC"),
        ("A and C.", "AC"),
        ("(A) and (D)", "AD"),
        ("B. Because A fails", "B"),
        ("A good answer", ""),
    ],
)
def test_letters_of_options(text: str, letters: str) -> None:
    """An article is not an option."""
    assert letters_in(text) == set(letters)


def test_exact_answers(figures: Any, loaded: Any) -> None:
    """All letters and no other; words but for case and a last stop. Open answers are in no figure."""
    kinds = ("Multi-Choice Answer", "Concise Answer", "Open Answer")
    rows = [
        {"qa_id": kind, "question": "?", "answer": answer, "qa_type": kind, "difficulty": "easy"}
        for kind, answer in zip(kinds, ("A, C", "Adam", "It depends."), strict=True)
    ]
    questions = loaded("paperarena", "qa.jsonl", rows)
    texts = ("I think.\n**Answer:** C and A", "Answer: adam.", "It depends.")
    scores = [
        grade_exact(question.reference, Answer(text)) for question, text in zip(questions, texts, strict=True)
    ]
    assert [score.value for score in scores] == [1, 1, 0]
    choice = questions[0].reference
    assert grade_exact(choice, Answer("Answer: A")).value == 0
    assert grade_exact(choice, Answer("None of them")).status is Status.UNPARSED
    scorer = next(scorer for scorer in WORKLOAD.scorers if scorer.name == "exact")
    shares = figures(scorer, list(zip(questions, scores, strict=True)))
    assert shares == {"accuracy": 1, "multi_choice": 1, "concise": 1}
