"""SWE-bench: issues of Python repositories, resolved by patches (Jimenez et al., arXiv:2310.06770).

The patch is applied in a new container of the instance's image, whatever made it, and the tests decide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading.swe_bench.infrastructure import infrastructure_failure
from loadgen.plugins.evals.grading.swe_bench.resolution import Resolution, resolution_of
from loadgen.plugins.evals.grading.swe_bench.test_log import statuses_in
from loadgen.plugins.evals.patch_tests import FOLDER, PatchedRun, patch_of, run_patched
from loadgen.plugins.evals.tasks.benchmarks import ScoreRule, benchmark
from loadgen.plugins.evals.tasks.repositories import container, image_of, listed, sample_of
from loadgen.plugins.sandbox.opening import open_sandbox
from workloads.cells import text
from workloads.errors import MalformedError
from workloads.question import Question
from workloads.sandbox_contract import SandboxError, SandboxSpec
from workloads.score import Score, failed, graded, unparsed
from workloads.scorer import Headline, Reference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workloads.answer import Answer
    from workloads.workload import Inputs

_SHOWN: Final = 1500


def questions(inputs: Inputs) -> Iterator[Question]:
    """One question an instance."""
    options = inputs.options
    for index, row in enumerate(inputs.rows):
        instance, repository = text(row, "instance_id"), text(row, "repo")
        spec = container(image_of(options["images"], instance, text(row, "image")), options)
        reference = {
            "repository": repository,
            "container": spec.to_dict(),
            "script": text(row, "eval_script"),
            "tests_s": options["tests_s"],
            "fail_to_pass": listed(row, "FAIL_TO_PASS"),
            "pass_to_pass": listed(row, "PASS_TO_PASS"),
        }
        issue = text(row, "problem_statement")
        yield Question(instance, sample_of(index, repository, issue, FOLDER, spec, options), reference)


def grade(reference: Reference, answer: Answer) -> Score:
    """1 where all tests that should pass do."""
    patch = patch_of(answer)
    if patch is None:
        return unparsed("the episode left no patch")
    if not patch.strip():
        return graded(0, patch, "the patch is empty")
    try:
        with open_sandbox(SandboxSpec.from_dict(reference["container"])) as sandbox:
            run = run_patched(sandbox, patch, reference["script"], timeout_s=reference["tests_s"])
    except SandboxError as error:
        return failed(f"the container failed: {error}")
    return verdict(reference, run, patch)


def verdict(reference: Reference, run: PatchedRun, patch: str = "") -> Score:
    """Judge the test results of a patched repository.

    A sign that the environment failed, which no patch of source code can cause, is not a verdict on the
    patch.
    """
    if not run.applied:
        return graded(0, patch, f"the patch does not apply: {run.log[-_SHOWN:].strip()}")
    if run.timed_out:
        return graded(0, patch, f"the tests took more than {reference['tests_s']:g} s")
    try:
        statuses = statuses_in(reference["repository"], run.log)
    except MalformedError as error:
        return failed(str(error))
    tests = resolution_of(statuses or {}, reference["fail_to_pass"], reference["pass_to_pass"])
    resolved = tests.resolution is Resolution.FULL
    sign = infrastructure_failure(run.log)
    if not resolved and sign is not None and sign.certain:
        return failed(f"infrastructure: {sign.reason}", log=run.log[-_SHOWN:])
    reasons = [] if statuses is not None else [f"no valid run: {run.log[-_SHOWN:].strip()}"]
    reasons += [f"still failing: {', '.join(tests.unresolved)}"] if tests.unresolved else []
    reasons += [f"broken: {', '.join(tests.broken)}"] if tests.broken else []
    return graded(
        resolved,
        patch,
        "; ".join(reasons),
        fixed=float(len(reference["fail_to_pass"]) - len(tests.unresolved)),
        broken=float(len(tests.broken)),
    )


WORKLOAD: Final = benchmark(
    "swe_bench", questions, official=ScoreRule(grade, headlines=(Headline("resolved"),))
)
