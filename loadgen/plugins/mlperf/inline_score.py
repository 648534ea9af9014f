"""The inline score of MLPerf's agentic inference: answers under load, compared with the recorded ones.

A turn of a workflow (`sim_` and digits) scores 1 if the answer's intent code is among the recorded ones. A
turn of coding scores the multiset Jaccard index of the programs that the bash calls of both answers run. A
turn that was issued and has no answer scores 0; one without recorded codes or programs does not count.
Source: github.com/mlcommons/endpoints, `evaluation/scoring.py`, `AgenticInferenceInlineScorer`.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_WORKFLOW: Final = re.compile(r"sim_\d+")
_NAMED_INTENT: Final = re.compile(r"\bintent:\s*(I\d{3})\b", re.IGNORECASE)
_INTENT: Final = re.compile(r"\bI\d{3}\b")
_TEXTS: Final = ("reasoning_content", "content")
_QUOTED: Final = re.compile(r"""'[^']*'|"(?:[^"\\]|\\.)*"|`[^`]*`""")
_STAGES: Final = re.compile(r"\|\||\||&&|;|\n")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_VERSION: Final = re.compile(r"\.\d+(\.\d+)?$")
_WRAPPERS: Final = frozenset({"env", "time", "nice", "sudo", "exec", "command"})

_NAMED: Final = (
    "python=python python2=python python3=python py=python pip=pip pip3=pip pytest=pytest pylint=pylint",
    "sphinx-build=sphinx sphinx-quickstart=sphinx cython=cython make=make conda=conda git=git curl=curl",
    "cat=cat less=cat more=cat head=head tail=tail wc=wc diff=diff grep=grep egrep=grep fgrep=grep rg=grep",
    "ag=grep sed=sed awk=awk gawk=awk tr=tr sort=sort uniq=uniq cut=cut find=find locate=find ls=ls",
    "xargs=xargs cp=cp mv=mv rm=rm mkdir=mkdir touch=touch tee=tee source=source .=source which=which",
    "alias=alias unset=unset export=export wget=curl true=true false=false timeout=timeout date=date",
    "apt-get=apt apt=apt yum=yum",
)
_PROGRAMS: Final = dict(pair.split("=") for line in _NAMED for pair in line.split())
"""The programs that count, with the names of their equals."""


class InlineScore(NamedTuple):
    """The score of a run.

    Attributes:
        percent: The mean over turns, in per cent; None without a turn that counts.
        turns: The turns that count.
        missing: Those of them without an answer.
    """

    percent: float | None
    turns: int
    missing: int


def inline_score(
    recorded: Mapping[tuple[str, int], Mapping[str, Any]],
    issued: Iterable[tuple[str, int, Mapping[str, Any] | None]],
) -> InlineScore:
    """Score the turns of a run.

    Args:
        recorded: The rows of recorded answers by session and number of the turn.
        issued: The session, the number and the answer of each measured turn; None without an answer.
    """
    scores, missing = [], 0
    for session, turn, answer in issued:
        row = recorded.get((session, turn))
        score = None if row is None else turn_score(session, row, answer or {})
        if score is not None:
            scores.append(score)
            missing += answer is None
    return InlineScore(100 * sum(scores) / len(scores) if scores else None, len(scores), missing)


def turn_score(session: str, recorded: Mapping[str, Any], answer: Mapping[str, Any]) -> float | None:
    """The score of a turn, from 0 to 1; None for one that does not count.

    Args:
        session: The id of the session.
        recorded: The row of the recorded answer.
        answer: The answer as a message of the chat API.
    """
    if _WORKFLOW.fullmatch(session):
        codes = recorded.get("intent_codes")
        wanted = {code.upper() for code in codes or () if isinstance(code, str) and code}
        return float(intent(answer) in wanted) if wanted else None
    wanted_programs = Counter(programs(recorded))
    if not wanted_programs:
        return None
    run = Counter(programs(answer))
    return (wanted_programs & run).total() / (wanted_programs | run).total()


def intent(answer: Mapping[str, Any]) -> str | None:
    """The intent code of an answer: after `intent:`, first in the reasoning; else the last code of a text."""
    texts = [text for name in _TEXTS if isinstance(text := answer.get(name), str)]
    for text in texts:
        if match := _NAMED_INTENT.search(text):
            return match[1].upper()
    return next((codes[-1] for text in texts if (codes := _INTENT.findall(text))), None)


def programs(answer: Mapping[str, Any]) -> list[str]:
    """The programs that the bash calls of an answer run."""
    return [
        program
        for command in _commands(answer.get("tool_calls"))
        for stage in _STAGES.split(_QUOTED.sub(" ", command))
        if (program := _program(stage.split())) is not None
    ]


def _commands(calls: Any) -> Iterator[str]:
    for call in calls if isinstance(calls, list | tuple) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or function.get("name") != "bash":
            continue
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            try:
                arguments = orjson.loads(arguments)
            except orjson.JSONDecodeError:
                continue
        if isinstance(arguments, dict):
            command = arguments.get("command") or arguments.get("cmd")
            if isinstance(command, str):
                yield command


def _program(words: Sequence[str]) -> str | None:
    """The program of a stage, behind assignments and wrappers; None for one that does not count."""
    first = next((word for word in words if word not in _WRAPPERS and not _ASSIGNMENT.match(word)), "")
    return _PROGRAMS.get(_VERSION.sub("", first.rpartition("/")[2].lower()))
