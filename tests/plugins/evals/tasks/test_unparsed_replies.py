"""A judge's reply that cannot be parsed: every judged scorer keeps it, and none calls the answer right."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.plugins.evals.tasks.test_judged_agents import CRITERIA
from workloads.answer import Answer, EpisodeOutcome
from workloads.catalog import names, workload
from workloads.score import JUDGE_REPLY

_REPLY: Final = "Hmm, hard to tell."
_BOTH: Final = ("ab", "ba")
_TURNS: Final = ("turn_1", "turn_2")
_TRIAGE: Final = '{"category": "spam", "draft": "Hello."}'
_SYNTHESIS: Final = '{"synthesis": "It is so."}'
_BRIEF: Final = "SUMMARY\nA day.\nSCHEDULE\nnone\nCONFLICTS\nnone\nPRIORITIES\nnone"
_BROWSED: Final = "Answer: 5\nSources: https://a.example"
_CRITERIA: Final = {"asked": "?", "criteria": ["It is."]}
_EPISODE: Final = EpisodeOutcome(
    "completed",
    details={"termination": "agent_stop", "database": 1, "expected": 1, "assertions": [], "checks": {}},
)

CASES: Final[dict[tuple[str, str], tuple[dict[str, Any], tuple[str, ...], str]]] = {
    ("ama_bench", "baseline"): ({"pairs": [{"question": "?", "answer": "5"}]}, ("1",), "Answer[1]: 6"),
    ("ama_bench", "official"): ({"pairs": [{"question": "?", "answer": "5"}]}, ("1",), "Answer[1]: 6"),
    ("browser_assistant", "judged"): (
        {**_CRITERIA, "answers": ["5"], "required": [], "allowed": []},
        ("criteria",),
        _BROWSED,
    ),
    ("deepresearch", "baseline"): (CRITERIA, ("baseline",), "A report."),
    ("deepresearch", "official"): (CRITERIA, ("marks",), ""),
    ("email_triage", "judged"): (
        {**_CRITERIA, "category": "spam", "priority": "low", "needs_reply": True},
        ("criteria",),
        _TRIAGE,
    ),
    ("frames", "official"): ({}, ("verdict",), ""),
    ("gaia", "judge_fallback"): ({"answer": "5"}, ("verdict",), "FINAL ANSWER: 6"),
    ("hle", "official"): ({}, ("verdict",), ""),
    ("hle_text_only", "official"): ({}, ("verdict",), ""),
    ("ipw", "baseline"): ({"question": "?", "answer": "5"}, ("baseline",), "6"),
    ("ipw", "official"): ({"kind": "reasoning"}, ("verdict",), "6"),
    ("liveresearchbench", "baseline"): (
        {"query": "?", "checklist": ["Has it?"]},
        ("baseline",),
        "A report.",
    ),
    ("liveresearchbench", "official"): (
        {"query": "?", "date": "today", "checklist": []},
        ("presentation", "consistency", "citation"),
        "",
    ),
    ("morning_brief", "judged"): (
        {**_CRITERIA, "schedule": [], "conflicts": [], "priorities": []},
        ("criteria",),
        _BRIEF,
    ),
    ("mt_bench", "official"): ({}, _TURNS, ""),
    ("mt_bench", "pairwise"): (
        {"baseline": ["a", "b"]},
        tuple(f"{turn}{order}" for turn in ("turn_1_", "turn_2_") for order in _BOTH),
        "",
    ),
    ("natural_reasoning", "baseline"): ({"question": "?", "answer": "5"}, ("baseline",), "6"),
    ("natural_reasoning", "judged"): ({}, ("verdict",), ""),
    ("paperarena", "baseline"): ({"question": "?", "answer": "5"}, ("baseline",), "6"),
    ("paperarena", "official"): ({}, ("verdict",), ""),
    ("pinchbench", "baseline"): ({"kind": "llm_judge"}, ("grade",), ""),
    ("pinchbench", "official"): ({"kind": "llm_judge"}, ("grade",), ""),
    ("research_mining", "judged"): (
        {**_CRITERIA, "supporting": [], "opposing": [], "figure": 1, "digits": 0},
        ("criteria",),
        _SYNTHESIS,
    ),
    ("simpleqa", "official"): ({}, ("verdict",), ""),
    ("supergpqa", "judge_letter"): ({"options": ["x", "y"], "letter": "A"}, ("letter",), ""),
    ("tau2", "official"): (
        {
            "basis": ["NL_ASSERTION"],
            "actions": [],
            "communicate_info": [],
            "nl_assertions": ["The agent is polite."],
        },
        ("nl_assertions",),
        "",
    ),
    ("wildchat", "both_orders"): ({}, _BOTH, ""),
    ("wildchat", "either_order"): ({}, _BOTH, ""),
    ("wildchat", "five_verdicts"): ({}, _BOTH, ""),
}
"""The reference, the keys of the inquiries and the answer, by task and scorer."""


def test_every_judged_scorer_has_a_case() -> None:
    """A further benchmark with a judge is found missing here."""
    judged = {
        (name, scorer.name) for name in names() for scorer in workload(name).scorers if scorer.ask is not None
    }
    assert set(CASES) == judged


@pytest.mark.parametrize(("task", "scorer"), sorted(CASES))
def test_a_reply_that_cannot_be_parsed_is_kept(task: str, scorer: str) -> None:
    """It is a detail of the score, by which reports count it and give the score without it."""
    reference, keys, text = CASES[task, scorer]
    grade = next(each.grade for each in workload(task).scorers if each.name == scorer)
    score = grade(reference, Answer(text, judged=dict.fromkeys(keys, _REPLY), episode=_EPISODE))
    assert _REPLY in score.details[JUDGE_REPLY]
    assert not score.value
