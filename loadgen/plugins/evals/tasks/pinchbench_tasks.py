"""Tasks of PinchBench: Markdown with a head in YAML (pinchbench/skill at 14b29939, `lib_tasks.py`)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from workloads.errors import MalformedError
from workloads.yaml_values import NotYAMLError, parse_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KINDS: Final = ("automated", "llm_judge", "hybrid")

_FILE: Final = re.compile(r"^---\s*\n(.*?)\n---\s*\n(.*)$", re.DOTALL)
_HEADING: Final = re.compile(r"^##\s+(.+)$", re.MULTILINE)
_CODE: Final = re.compile(r"```python\s*(.*?)\s*```", re.DOTALL)
_CRITERION: Final = re.compile(r"^-\s+\[[ x]\]\s+(.+)$")
_SECONDS: Final = 120.0


@dataclass(frozen=True, slots=True)
class PinchTask:
    """One task.

    Attributes:
        name: Its id.
        kind: How it is graded.
        category: As the file says it.
        prompts: Of the sessions, one after the other.
        new_sessions: For each, whether it begins a conversation of its own.
        expected: What the agent should do, for the judge.
        rubric: Likewise; else the criteria.
        checks: Python that defines `grade`; empty for none.
        weights: Of a hybrid task.
        seconds: How long the agent may take.
        texts: Files of its folder, by their paths.
        assets: Files of the repository's folder `assets` by their paths in its own folder.
    """

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
    """The task of a file.

    Raises:
        MalformedError: The file is not a task, and why.
        OSError: It cannot be read.
    """
    return parse_task(path, Path(path).read_text(encoding="utf-8"))


def parse_task(path: str, text: str) -> PinchTask:
    """Parse a task.

    Args:
        path: For errors.
        text: Of the file.

    Raises:
        MalformedError: It is not a task, and why.
    """
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
