"""SWE-bench Pro: issues of repositories in four languages, resolved by patches (arXiv:2509.16941).

Each instance has a script that runs its tests, and a parser of their output; they are files of
scaleapi/SWE-bench_Pro-os, of which a clone is needed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading.swe_bench_pro import is_resolved, passed_tests
from loadgen.plugins.evals.patch_tests import WORKSPACE, patch_of, run_workspace, without_binary_files
from loadgen.plugins.evals.tasks.benchmarks import ScoreRule, benchmark
from loadgen.plugins.evals.tasks.repositories import container, image_of, listed, sample_of
from loadgen.plugins.sandbox.opening import open_sandbox
from workloads.cells import text
from workloads.errors import MalformedError, SourceError
from workloads.question import Question
from workloads.sandbox_contract import SandboxError, SandboxSpec
from workloads.score import Score, failed, graded, unparsed
from workloads.scorer import Headline, Reference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workloads.answer import Answer
    from workloads.sources import FileRow
    from workloads.workload import Inputs

FOLDER: Final = "/app"
_IMAGES: Final = "jefzda/sweap-images"
_ENTRY: Final = "entryscript.sh"
_SHOWN: Final = 1500


def questions(inputs: Inputs) -> Iterator[Question]:
    """One question an instance."""
    options = inputs.options
    repository_folder = Path(options["repository"] or inputs.data or ".")
    for index, row in enumerate(inputs.rows):
        instance, repository = text(row, "instance_id"), text(row, "repo")
        published = f"{_IMAGES}:{text(row, 'dockerhub_tag')}"
        spec = container(image_of(options["images"], instance, published), options)
        reference = {
            "container": spec.to_dict(),
            "files": workspace(repository_folder, row),
            "tests_s": options["tests_s"],
            "fail_to_pass": listed(row, "fail_to_pass"),
            "pass_to_pass": listed(row, "pass_to_pass"),
        }
        issue = text(row, "problem_statement")
        yield Question(instance, sample_of(index, repository, issue, FOLDER, spec, options), reference)


def workspace(folder: Path, row: FileRow) -> dict[str, str]:
    """The files of an instance's workspace, but for the patch."""
    instance = text(row, "instance_id")
    variables = [
        line.strip().replace("ENV", "export", 1)
        for kind in ("base", "instance")
        for line in _file(folder / "dockerfiles" / f"{kind}_dockerfile" / instance / "Dockerfile").split("\n")
        if line.strip().startswith("ENV")
    ]
    commit, before = text(row, "base_commit"), text(row, "before_repo_set_cmd").strip().split("\n")[-1]
    tests = ",".join(listed(row, "selected_test_files_to_run"))
    entry = [
        *variables,
        f"cd {FOLDER}",
        f"git reset --hard {commit}",
        f"git checkout {commit}",
        f"git apply -v {WORKSPACE}/patch.diff",
        before,
        f"bash {WORKSPACE}/run_script.sh {tests} > {WORKSPACE}/stdout.log 2> {WORKSPACE}/stderr.log",
        f"python {WORKSPACE}/parser.py {WORKSPACE}/stdout.log {WORKSPACE}/stderr.log {WORKSPACE}/output.json",
    ]
    scripts = folder / "run_scripts" / instance
    return {
        _ENTRY: "\n".join(entry) + "\n",
        "run_script.sh": _file(scripts / "run_script.sh"),
        "parser.py": _file(scripts / "parser.py"),
    }


def _file(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise SourceError(
            f"{path}: {error.strerror}: clone https://github.com/scaleapi/SWE-bench_Pro-os, and name the "
            "folder with --data or swe_bench_pro:repository=FOLDER"
        ) from error


def grade(reference: Reference, answer: Answer) -> Score:
    """1 where all tests that should pass do."""
    patch = patch_of(answer)
    if patch is None:
        return unparsed("the episode left no patch")
    files = {**reference["files"], "patch.diff": without_binary_files(patch)}
    try:
        with open_sandbox(SandboxSpec.from_dict(reference["container"])) as sandbox:
            output, log = run_workspace(sandbox, files, _ENTRY, timeout_s=reference["tests_s"])
    except SandboxError as error:
        return failed(f"the container failed: {error}")
    if output is None:
        return graded(0, patch, f"the tests took more than {reference['tests_s']:g} s")
    try:
        passed = passed_tests(output)
    except MalformedError as error:
        return failed(f"the instance's parser failed: {error}", log=log[-_SHOWN:])
    fail_to_pass, pass_to_pass = reference["fail_to_pass"], reference["pass_to_pass"]
    unresolved = [test for test in fail_to_pass if test not in passed]
    broken = [test for test in pass_to_pass if test not in passed]
    reasons = [f"still failing: {', '.join(unresolved)}"] if unresolved else []
    reasons += [f"broken: {', '.join(broken)}"] if broken else []
    return graded(
        is_resolved(passed, fail_to_pass, pass_to_pass),
        patch,
        "; ".join(reasons),
        fixed=float(len(fail_to_pass) - len(unresolved)),
        broken=float(len(broken)),
    )


WORKLOAD: Final = benchmark(
    "swe_bench_pro", questions, official=ScoreRule(grade, headlines=(Headline("resolved"),))
)
