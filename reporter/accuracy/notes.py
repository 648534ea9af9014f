"""Notes on a score that matter for comparisons with other scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.json_values import texts, whole
from reporter.values.scorer_definitions import changed_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reporter.accuracy.asked import RunTask, ScorerPass, StoppedScorer
    from reporter.accuracy.score_rows import SampleCounts
    from reporter.values.scorer_definitions import Definition

RESCORE: Final = "loadgen score RUN"
JUDGE: Final = "loadgen score RUN --judge-url URL --judge-model MODEL"

_PROTECTIONS: Final = ("namespaces", "landlock", "seccomp")
"""The mechanisms that isolate programs on Linux; see `loadgen.plugins.sandbox.supervisor`."""


def notes(
    task: RunTask,
    scored: ScorerPass | None,
    definition: Definition,
    counts: SampleCounts,
    excluded: Mapping[str, int],
) -> Iterator[str]:
    """The notes on a score."""
    yield from of_scoring(scored, definition, counts)
    yield from task.notes
    yield from _of_questions(task, counts)
    if excluded and counts.unscored:
        yield "pass@k and pass^k are lower bounds: attempts without a score count as failed"
    short = {k: count for k, count in excluded.items() if count}
    if short:
        parts = ", ".join(f"{count:,} from pass@{k}" for k, count in short.items())
        yield f"left out are questions with fewer attempts: {parts}"
    if counts.truncated:
        cut = round(counts.truncated * counts.issued)
        yield f"{cut:,} of {counts.issued:,} answers were cut at the limit of tokens"
    if definition.note and scored is not None:
        yield definition.note


def of_stopped(half: StoppedScorer) -> str:
    """The note on an incomplete pass, which is not reported."""
    if half.reported is not None:
        return (
            f"scoring pass {half.number} ({half.scorer}) has a score for {half.done:,} of {half.total:,} "
            f"answers only: pass {half.reported} is reported; {RESCORE} scores again, --pass {half.number} "
            "reports it"
        )
    return (
        f"scoring pass {half.number} ({half.scorer}) stopped after {half.done:,} of {half.total:,} answers "
        f"and is not reported: {RESCORE} continues it"
    )


def of_scoring(scored: ScorerPass | None, definition: Definition, counts: SampleCounts) -> Iterator[str]:
    """Notes on incomplete scoring, with the remedy."""
    if scored is None:
        yield f"the answers were not scored: {RESCORE}"
        return
    if scored.outdated:
        yield f"the run went on after scoring pass {scored.number}: {RESCORE}"
    if scored.ended != "completed":
        yield f"scoring pass {scored.number} was not finished: {RESCORE} continues it"
    if scored.judge_model is not None and counts.judge_pending < counts.issued:
        sampled = f", {scored.judge_sampling}" if scored.judge_sampling else ""
        yield f"judged by {scored.judge_model}{sampled} ({scored.judge})"
    if counts.judge_pending:
        yield f"{counts.judge_pending:,} of {counts.issued:,} answers wait for a judge: {JUDGE}"
    if counts.infra_error:
        most_frequent = f", most of them: {counts.why}" if counts.why else ""
        yield f"{counts.infra_error:,} of {counts.issued:,} samples could not be scored{most_frequent}"
    if 0 < counts.unscored < counts.issued:
        yield "samples without a score count as wrong; `best` counts them as right"
    if definition.runs_code and (isolation := scored.sandbox) is not None:
        yield _of_sandbox(isolation, scored.sandbox_image)
    if definition.version not in {None, scored.version}:
        yield (
            f"scored by version {scored.version} of {scored.scorer}, and this program has version "
            f"{definition.version}: {RESCORE}"
        )


def of_unparsed(counts: SampleCounts, value: float | None, without: float | None) -> Iterator[str]:
    """The note on replies of a judge that could not be parsed, with the score both ways."""
    if not counts.judge_unparsed:
        return
    both = [
        f"{'undefined' if figure is None else format(figure, '.4f')} {which} them"
        for figure, which in ((value, "with"), (without, "without"))
    ]
    samples = f"{counts.judge_unparsed:,} of {counts.issued:,} samples"
    yield (f"in {samples} a reply of the judge could not be parsed: the score is {both[0]} and {both[1]}")


def _of_sandbox(isolation: str, image: str | None) -> str:
    if image is not None:
        return f"programs ran in containers of {image} (docs/sandbox.md)"
    if isolation == "docker":
        return "programs ran in containers of the benchmark's images (docs/sandbox.md)"
    held = isolation.replace("+", ", ") or "limits alone"
    missing = ", ".join(name for name in _PROTECTIONS if name not in isolation.split("+"))
    lacks = f", without {missing}, which its kernel did not give" if missing else ""
    return f"programs ran on the machine that scored, isolated by {held}{lacks} (docs/security.md)"


def _of_questions(task: RunTask, counts: SampleCounts) -> Iterator[str]:
    if changed := changed_options(task.name, task.options):
        changes = "; ".join(
            f"{key}={option_value}, where the default is {'none' if default == '' else default}"
            for key, (option_value, default) in changed.items()
        )
        yield f"with options {changes}"
    if task.published is not None:
        if task.rows is not None and task.rows != task.published:
            yield f"its data had {task.rows:,} rows, where {task.published:,} are published"
        elif task.rows is None and task.count is not None and task.count < task.published:
            yield f"{task.count:,} of the {task.published:,} questions of the benchmark"
    if task.system_prompt is not None:
        yield "sent with a system prompt of yours (--system-prompt)"
    if task.count is not None and (total := whole(task.drawn.get("of"))) is not None:
        groups = " and ".join(texts(task.drawn.get("groups")))
        evenly = f", in proportion to {groups}" if groups else ""
        seed = task.drawn.get("seed")
        yield f"{task.count:,} of its {total:,} questions, drawn with --seed {seed}{evenly}"
    if task.count is not None and counts.questions < task.count:
        yield f"{task.count - counts.questions:,} of {task.count:,} questions were never asked"
