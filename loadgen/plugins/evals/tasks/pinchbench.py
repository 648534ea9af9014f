"""PinchBench: tasks of an assistant with files, graded by checks, a judge, or both (pinchbench/skill).

The checks are Python of the benchmark. They run in the agent's sandbox when it has ended, and never here.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, field, replace
from loadgen.plugins.agents import terminal
from loadgen.plugins.agents.episode import EpisodeResult
from loadgen.plugins.evals.grading.pinchbench import (
    check_program,
    check_scores,
    combined,
    mean,
    summary,
    total_in,
    transcript_of,
)
from loadgen.plugins.evals.headlines import by_tag
from loadgen.plugins.evals.judging.judge_prompts import judge_prompts
from loadgen.plugins.evals.tasks.benchmarks import ScoreRule, benchmark
from workloads.episode_program import EpisodeProgram, EpisodeSample
from workloads.errors import MalformedError, SourceError
from workloads.question import Question
from workloads.sandbox_contract import SandboxSpec
from workloads.score import Score, failed, graded, pending, unparsed, with_replies
from workloads.scorer import Headline, Inquiry, Reference
from workloads.sources import FileRow
from workloads.yaml_values import NotYAMLError, parse_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from loadgen.plugins.agents.episode import Ask
    from loadgen.plugins.sandbox.opening import SandboxOnDemand
    from workloads.answer import Answer
    from workloads.sample import Message
    from workloads.workload import Inputs

KINDS: Final = ("automated", "llm_judge", "hybrid")

_FILE: Final = re.compile(r"^---\s*\n(.*?)\n---\s*\n(.*)$", re.DOTALL)
_HEADING: Final = re.compile(r"^##\s+(.+)$", re.MULTILINE)
_CODE: Final = re.compile(r"```python\s*(.*?)\s*```", re.DOTALL)
_CRITERION: Final = re.compile(r"^-\s+\[[ x]\]\s+(.+)$")
_SECONDS: Final = 120.0


@dataclass(frozen=True, slots=True)
class PinchTask:
    """One task; `texts` are contents, and `assets` files of the repository, by path in the folder."""

    name: str
    kind: str
    category: str
    prompts: Sequence[str]
    new_sessions: Sequence[bool]
    expected: str
    rubric: str
    checks: str
    weights: Mapping[str, float] = field(default_factory=dict)
    seconds: float = _SECONDS
    texts: Mapping[str, str] = field(default_factory=dict)
    assets: Mapping[str, str] = field(default_factory=dict)


@cache
def read_task(path: str) -> PinchTask:
    """The task of a file."""
    return parse_task(path, Path(path).read_text(encoding="utf-8"))


def parse_task(path: str, text: str) -> PinchTask:
    """Parse a task."""
    parts = _FILE.match(text)
    if parts is None:
        raise MalformedError(f"{path}: no head between two lines of `---`")
    try:
        head = parse_yaml(parts[1])
    except NotYAMLError as error:
        raise MalformedError(f"{path}: its head is not YAML: {error}") from error
    if not isinstance(head, dict) or not isinstance(head.get("id"), str):
        raise MalformedError(f"{path}: its head has no `id`")
    kind = head.get("grading_type", KINDS[0])
    if kind not in KINDS:
        raise MalformedError(f"{path}: `grading_type` is {kind}, where {', '.join(KINDS)} are known")
    sections = _sections(parts[2])
    code = _CODE.search(sections.get("Automated Checks", ""))
    sessions = head.get("sessions") or [{"prompt": sections.get("Prompt", "")}]
    files = head.get("workspace_files") or []
    try:
        return PinchTask(
            name=head["id"],
            kind=kind,
            category=str(head.get("category", "")),
            prompts=[str(session["prompt"]).strip() for session in sessions],
            new_sessions=[bool(session.get("new_session")) for session in sessions],
            expected=sections.get("Expected Behavior", ""),
            rubric=sections.get("LLM Judge Rubric") or _criteria(sections.get("Grading Criteria", "")),
            checks=code[1] if code else "",
            weights={name: float(weight) for name, weight in (head.get("grading_weights") or {}).items()},
            seconds=float(head.get("timeout_seconds", _SECONDS)),
            texts={str(file["path"]): str(file["content"]) for file in files if "content" in file},
            assets={str(file["dest"]): str(file["source"]) for file in files if "content" not in file},
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise MalformedError(f"{path}: its head is not as expected ({error!r})") from error


def _sections(body: str) -> dict[str, Any]:
    parts = _HEADING.split(body)
    return {title: text.strip() for title, text in zip(parts[1::2], parts[2::2], strict=True)}


def _criteria(text: str) -> str:
    matches = (_CRITERION.match(line.strip()) for line in text.split("\n"))
    return "\n".join(f"- {match[1]}" for match in matches if match)


_KEY: Final = "grade"
_PASS: Final = 0.5
_CHECKS_S: Final = 60.0
_NOT_FOUND: Final = 127
_SHOWN: Final = 2_000
_PROMPTS: Final = judge_prompts("pinchbench")
_AUTOMATED, _LLM_JUDGE, _HYBRID = KINDS


def questions(inputs: Inputs) -> Iterator[Question]:
    """One episode a task file."""
    for index, row in enumerate(inputs.rows):
        path = Path(row["path"])
        task = read_task(str(path))
        files = {"task": str(path)}
        for source in task.assets.values():
            asset = path.parent.parent / "assets" / source
            if not asset.is_file():
                raise SourceError(f"{path}: missing file {asset}, which the task needs")
            files[source] = str(asset)
        program = EpisodeProgram(
            f"{__name__}:play",
            files=files,
            sandbox=SandboxSpec(network=inputs.options["network"]),
            setup=f"{__name__}:setup",
            finish=f"{__name__}:finish",
            seconds=task.seconds,
        )
        tags = {"grading": task.kind, "category": task.category}
        reference = {
            "kind": task.kind,
            "weights": dict(task.weights),
            "prompt": "\n\n".join(task.prompts),
            "expected": task.expected,
            "rubric": task.rubric,
        }
        yield Question(
            task.name, EpisodeSample(index, task.prompts[0], tags=tags, episode=program), reference
        )


def _task(sample: EpisodeSample) -> PinchTask:
    return read_task(sample.episode.files["task"])


async def setup(sample: EpisodeSample, sandbox: SandboxOnDemand) -> None:
    """Put the files of the task into the agent's folder."""
    if files := _files(sample):
        await sandbox.put_files(files)


def _files(sample: EpisodeSample) -> dict[str, bytes]:
    task, paths = _task(sample), sample.episode.files
    texts = {path: text.encode() for path, text in task.texts.items()}
    return texts | {path: Path(paths[source]).read_bytes() for path, source in task.assets.items()}


async def play(sample: EpisodeSample, ask: Ask, sandbox: SandboxOnDemand) -> EpisodeResult:
    """Let the model work with `bash`, one session after the other."""
    task = _task(sample)
    conversation: list[Message] = []
    earlier: list[Message] = []
    for prompt, is_new in zip(task.prompts, task.new_sessions, strict=True):
        if is_new:
            earlier, conversation = [*earlier, *conversation], []
        conversation = [*conversation, {"role": "user", "content": prompt}]
        conversation = list((await terminal.work(ask, sandbox, conversation)).messages)
    return EpisodeResult([*earlier, *conversation])


async def finish(sample: EpisodeSample, sandbox: SandboxOnDemand, result: EpisodeResult) -> EpisodeResult:
    """Run the checks in the agent's sandbox; the details have the numbers, or the error."""
    task = _task(sample)
    checks: dict[str, Any] = {}
    if task.kind != _LLM_JUDGE and task.checks:
        assert sample.episode.sandbox is not None  # noqa: S101 (every task has one)
        folder = sample.episode.sandbox.folder
        program = check_program(task.checks, transcript_of(result.messages), folder)
        run = await sandbox.exec(["python3", "-I", "-"], _CHECKS_S, program.encode())
        checks = {"scores": check_scores(run.stdout), "exit_code": run.exit_code, "ending": run.ending}
        if checks["scores"] is None:
            checks["error"] = run.stderr[-_SHOWN:]
    return replace(result, details={**result.details, "checks": checks})


def ask(reference: Reference, answer: Answer) -> Sequence[Inquiry]:
    """An inquiry: the quality of the work, by the task's rubric."""
    if reference["kind"] == _AUTOMATED or answer.episode is None:
        return ()
    texts = {name: reference[name] for name in ("prompt", "expected", "rubric")}
    transcript = summary(transcript_of(answer.episode.messages))
    return (Inquiry(_KEY, _PROMPTS.prompts["grade"].messages(transcript=transcript, **texts)),)


def grade(reference: Reference, answer: Answer) -> Score:
    """The mean of the checks, the total of the judge, or both by weight."""
    if answer.episode is None or "checks" not in answer.episode.details:
        ending = "not an episode" if answer.episode is None else answer.episode.ending
        return unparsed(f"nothing was checked: {ending}")
    kind, checks = reference["kind"], answer.episode.details["checks"]
    if checks.get("exit_code") == _NOT_FOUND:
        return failed("the sandbox has no python3, which the checks need", output=checks["error"])
    if checks and checks["scores"] is None:
        ended = "" if checks["ending"] == "exited" else f" ({checks['ending']})"
        reason = f"the checks fail{ended}: {checks['error'].strip().rpartition(chr(10))[2]}"
        return graded(0, None, reason, **({"automated": 0.0} if kind != _LLM_JUDGE else {}))
    scores = checks.get("scores") or {}
    shown = ", ".join(f"{name} {value:g}" for name, value in scores.items())
    if kind == _AUTOMATED:
        return graded(mean(scores), shown, _missed(scores), automated=mean(scores))
    reply = answer.judged.get(_KEY)
    if reply is None:
        return pending()
    total = total_in(reply)
    judged = 0.0 if total is None else total
    value = judged if kind == _LLM_JUDGE else combined(mean(scores), judged, reference["weights"])
    figures = {"llm_judge": judged} | ({"automated": mean(scores)} if kind == _HYBRID else {})
    score = graded(value, shown or f"{judged:g}", _missed(scores), **figures)
    return score if total is not None else with_replies(score, reply)


def _missed(scores: dict[str, float]) -> str:
    return ", ".join(name for name, value in scores.items() if value < 1)


def passes(reference: Reference, answer: Answer) -> Score:
    """Right from a score of a half on."""
    score = grade(reference, answer)
    return score if score.value is None else replace(score, value=float(score.value >= _PASS))


def _paths(path: Path, content: bytes) -> Iterator[FileRow]:
    """The path of a task's file."""
    del content
    yield FileRow(str(path), {"path": str(path.absolute())})


WORKLOAD: Final = benchmark(
    "pinchbench",
    questions,
    read=_paths,
    official=ScoreRule(
        grade, headlines=(Headline("score"), *by_tag("grading", KINDS)), ask=ask, judge=_PROMPTS.label
    ),
    baseline=ScoreRule(passes, ask=ask, judge=_PROMPTS.label),
)
