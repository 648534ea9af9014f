"""tau2-bench: an agent with tools serves a simulated user, who may also have tools (arXiv:2506.07982).

The base split of its domains. A task names the parts of its reward: the database (DB), assertions on the
world (ENV_ASSERTION), calls that must be made (ACTION), what must be said (COMMUNICATE), and what a judge is
asked (NL_ASSERTION); see `loadgen.plugins.evals.environments.tau2` and `loadgen.plugins.evals.grading.tau2`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.environments.tau2 import episode
from loadgen.plugins.evals.environments.tau2.episode import agent_prompt
from loadgen.plugins.evals.environments.tau2.world import declared
from loadgen.plugins.evals.grading.tau2 import ENDED, action_checks, communicate_checks, simulation_reward
from loadgen.plugins.evals.headlines import by_tag
from loadgen.plugins.evals.prompts import prompt
from loadgen.plugins.evals.tasks.benchmarks import ScoreRule, benchmark
from loadgen.plugins.evals.tasks.tau_bench import chosen
from workloads.cells import text
from workloads.episode_program import EpisodeProgram, EpisodeSample
from workloads.errors import ColumnError
from workloads.question import Question
from workloads.score import Score, graded, pending, unparsed, unreadable
from workloads.scorer import Headline, Inquiry, Reference
from workloads.sources import one_document, one_text
from workloads.workload import Inputs, Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from workloads.answer import Answer
    from workloads.sources import FileRow

_COMMIT: Final = "a2c024725189473d2d7cea3a5cfdbcc67478e41f"
_PUBLISHED: Final = f"https://raw.githubusercontent.com/sierra-research/tau2-bench/{_COMMIT}"
DOMAINS: Final[Mapping[str, int]] = {"airline": 50, "retail": 114, "telecom": 114}
"""The domains, with the number of tasks of their base splits."""

_PHONES: Final = "telecom"
"""The domain whose user has a phone."""

_DATABASES: Final = {"airline": ("db",), "retail": ("db",), _PHONES: ("db", "user_db")}
_BASIS: Final = ("DB", "COMMUNICATE")
_JUDGED: Final = "NL_ASSERTION"
_INQUIRY: Final = "nl_assertions"
_JUDGE: Final = prompt("tau2", "judge")


def questions(inputs: Inputs) -> Iterator[Question]:
    """One episode a task of the base split."""
    index = 0
    for domain in chosen("tau2", inputs.options["domain"], list(DOMAINS)):
        (split,) = inputs.more(f"{domain} split")
        paths = {}
        for table in _DATABASES[domain]:
            inputs.more(f"{domain} {table}")
            paths[table] = str(inputs.paths(f"{domain} {table}")[0])
        policy = _policy(domain, inputs)
        base = set(split["document"].get("base", ()))
        for row in inputs.more(f"{domain} tasks"):
            if row["id"] in base:
                yield question_of(index, domain, row, policy, paths)
                index += 1


def _policy(domain: str, inputs: Inputs) -> str:
    (policy,) = inputs.more(f"{domain} policy")
    if domain != _PHONES:
        return str(policy["text"])
    (manual,) = inputs.more(f"{domain} manual")
    return (
        f"<main_policy>\n{policy['text']}\n</main_policy>\n"
        f"<tech_support_policy>\n{manual['text']}\n</tech_support_policy>"
    )


def question_of(index: int, domain: str, row: FileRow, policy: str, paths: Mapping[str, str]) -> Question:
    """The episode of a task."""
    scenario, criteria = row["user_scenario"], row["evaluation_criteria"]
    if not isinstance(scenario, dict) or "instructions" not in scenario or not isinstance(criteria, dict):
        raise ColumnError(f"{row.place}: 'user_scenario' or 'evaluation_criteria' is not an object of tau2's")
    initial = ((row["initial_state"] or {}).get("initialization_actions")) or []
    actions = criteria.get("actions") or []
    data = {
        "domain": domain,
        "scenario": scenario,
        "initial": initial,
        "actions": actions,
        "assertions": criteria.get("env_assertions") or [],
    }
    program = EpisodeProgram(f"{episode.__name__}:play", data, files=dict(paths), user=True)
    sample = EpisodeSample(
        index,
        text(row, "id"),
        chat=({"role": "system", "content": agent_prompt(policy)},),
        tools=tuple(declared(domain)),
        tags={"domain": domain},
        episode=program,
    )
    reference = {
        "basis": criteria.get("reward_basis") or list(_BASIS),
        "actions": actions,
        "communicate_info": criteria.get("communicate_info") or [],
        "nl_assertions": criteria.get("nl_assertions") or [],
    }
    return Question(f"{domain}_{row['id']}", sample, reference)


def grade(reference: Reference, answer: Answer) -> Score:
    """The product of the parts that the task names; 0 where the user has not ended the conversation."""
    outcome = answer.episode
    if outcome is None or "termination" not in outcome.details:
        ending = "not an episode" if outcome is None else outcome.ending
        return unparsed(f"the conversation was not played to its end: {ending}")
    details = outcome.details
    messages = _messages(outcome.messages)
    parts = {
        "DB": float(details["database"] == details["expected"]),
        "ENV_ASSERTION": float(all(details["assertions"])),
        "ACTION": float(all(action_checks(messages, reference["actions"]))),
        "COMMUNICATE": float(all(communicate_checks(messages, reference["communicate_info"]))),
    }
    if details["termination"] in ENDED and _is_judged(reference):
        judged = _judged(reference, answer)
        if isinstance(judged, Score):
            return judged
        parts[_JUDGED] = judged
    parts.setdefault(_JUDGED, 1.0)
    reward = simulation_reward(details["termination"], reference["basis"], parts)
    missed = sorted(part for part in reference["basis"] if not parts[part])
    reason = "" if reward else ", ".join(missed) or f"ended by {details['termination']}"
    counted = {part.lower(): parts[part] for part in reference["basis"]}
    return graded(reward, answer.text, reason, **counted)


def ask(reference: Reference, answer: Answer) -> Sequence[Inquiry]:
    """The inquiry to a judge, for tasks with a judged reward."""
    outcome = answer.episode
    if not _is_judged(reference) or outcome is None or outcome.details.get("termination") not in ENDED:
        return ()
    conversation = "\n".join(f"{message['role']}: {message.get('content')}" for message in outcome.messages)
    prompt = f"conversation:\n{conversation}\n\nexpectedOutcomes:\n{reference['nl_assertions']}"
    messages = ({"role": "system", "content": _JUDGE}, {"role": "user", "content": prompt})
    return [Inquiry(_INQUIRY, messages, temperature=0.0)]


def _is_judged(reference: Reference) -> bool:
    return _JUDGED in reference["basis"] and bool(reference["nl_assertions"])


def _judged(reference: Reference, answer: Answer) -> float | Score:
    """Whether the judge says that every assertion is met."""
    if _INQUIRY not in answer.judged:
        return pending()
    reply = answer.judged[_INQUIRY].strip().removeprefix("```json").removeprefix("```").removesuffix("```")
    try:
        results = json.loads(reply)["results"]
        met = [result["metExpectation"] is True for result in results]
    except (ValueError, KeyError, TypeError):
        return unreadable("JSON object with `results`", answer.judged[_INQUIRY])
    if len(met) < len(reference["nl_assertions"]):
        wanted = f"verdict on {len(reference['nl_assertions']) - len(met)} of the assertions"
        return unreadable(wanted, answer.judged[_INQUIRY])
    return float(all(met))


def _messages(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Messages with calls in tau2's format: arguments are objects."""
    return [
        {
            **message,
            "content": message.get("content"),
            "tool_calls": [
                {
                    "name": call["function"]["name"],
                    "arguments": json.loads(call["function"].get("arguments") or "{}"),
                }
                for call in message.get("tool_calls") or ()
                if _is_readable(call)
            ],
        }
        for message in messages
    ]


def _is_readable(call: Mapping[str, Any]) -> bool:
    try:
        return isinstance(json.loads(call["function"].get("arguments") or "{}"), dict)
    except ValueError:
        return False


def _source(domain: str, file: str, columns: tuple[str, ...], read: Any = None) -> Source:
    """A file of a domain, in the repository's layout or in a flat folder."""
    inside = f"data/tau2/domains/{domain}/{file}"
    return Source(
        files=(
            f"{inside}*",
            f"tau2/domains/{domain}/{file}*",
            f"{domain}/{file}*",
            f"{domain}__{file}*",
            f"inspect_{domain}__{file}*",
            f"{file}*",
        ),
        urls=(f"{_PUBLISHED}/{inside}",),
        columns=columns,
        revision=_COMMIT,
        licence="MIT",
        read=read,
    )


def _world_sources(domain: str) -> dict[str, Source]:
    """The policy and the databases of a domain."""
    if domain != _PHONES:
        return {
            "policy": _source(domain, "policy.md", ("text",), one_text),
            "db": _source(domain, "db.json", ("document",), one_document),
        }
    files = {
        "policy": "main_policy.md",
        "manual": "tech_support_manual.md",
        "db": "db.toml",
        "user_db": "user_db.toml",
    }
    return {name: _source(domain, file, ("text",), one_text) for name, file in files.items()}


_COLUMNS: Final = ("id", "user_scenario", "initial_state", "evaluation_criteria")

WORKLOAD: Final = benchmark(
    "tau2",
    questions,
    source=Source(
        files=(
            "data/tau2/domains/*/tasks.json*",
            "tau2/domains/*/tasks.json*",
            "*__tasks.json*",
            "tasks.json*",
        ),
        urls=_source("airline", "tasks.json", _COLUMNS).urls,
        columns=_COLUMNS,
        revision=_COMMIT,
        licence="MIT",
    ),
    further={
        f"{domain} {name}": source
        for domain in DOMAINS
        for name, source in {
            "tasks": _source(domain, "tasks.json", _COLUMNS),
            "split": _source(domain, "split_tasks.json", ("document",), one_document),
            **_world_sources(domain),
        }.items()
    },
    official=ScoreRule(
        grade,
        headlines=(
            Headline("reward"),
            *by_tag("domain", DOMAINS),
        ),
        ask=ask,
    ),
)
