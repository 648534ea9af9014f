"""Coverage-guided fuzzing: `python tests/fuzz/run.py [TARGET …] --seconds N`.

Each target has a separate process, as many at once as there are CPUs. It starts from its corpus, and ends
with an error when a law is broken: the input is then in `fuzz-findings/`, and belongs into the corpus when it
has been dealt with.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parents[1]
FINDINGS: Final = "fuzz-findings"
LONGEST_INPUT: Final = 4096
MEMORY_MB: Final = 2048
SLOWEST_S: Final = 25
INSTRUMENTED: Final = ["lazy_dataclasses", "loadgen", "reporter", "recorder", "rulesets", "workloads"]


def main() -> int:
    """Run all targets that were named, else all.

    Returns:
        The exit code: 1 when a law was broken.
    """
    arguments = _arguments()
    if arguments.inside is not None:
        return _inside(arguments.inside, arguments.further)
    _require_atheris()
    names = arguments.targets or _names()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        codes = list(pool.map(lambda name: _outside(name, arguments.seconds, arguments.seed), names))
    return int(any(codes))


def _arguments() -> Any:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="names of targets; all by default")
    parser.add_argument("--seconds", type=int, default=60, help="for each target (60)")
    parser.add_argument("--seed", type=int, default=0, help="the same inputs in each run; random by default")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    parser.add_argument("--further", nargs=argparse.REMAINDER, default=[], help=argparse.SUPPRESS)
    return parser.parse_args()


def _require_atheris() -> None:
    from importlib.util import find_spec

    if find_spec("atheris") is None:
        sys.exit(
            "atheris is not installed: pip install -e '.[fuzz]'. It has wheels for CPython 3.11 to 3.13 on "
            "Linux; "
            f"this is {sys.implementation.name} {sys.version.split()[0]} on {sys.platform}. "
            "What the suite fuzzes (tests/fuzz/test_fuzz_targets.py) needs no atheris."
        )


def _outside(name: str, seconds: int, seed: int) -> int:
    """Fuzz one target in a separate process, and report the outcome in one line."""
    findings = Path(FINDINGS)
    findings.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix=f"loadgen-fuzz-{name}-") as corpus,
        # It ends without tidying up.
        tempfile.TemporaryDirectory(prefix="loadgen-fuzz-") as scratch,
    ):
        options = [
            *(f"-max_total_time={seconds}", f"-max_len={LONGEST_INPUT}", f"-rss_limit_mb={MEMORY_MB}"),
            *(
                f"-timeout={SLOWEST_S}",
                f"-artifact_prefix={findings}/{name}-",
                f"-dict={HERE / 'words.dict'}",
            ),
            *(
                "-print_final_stats=1",
                "-use_value_profile=1",
                f"-seed={seed}",
                corpus,
                str(HERE / "corpus" / name),
            ),
        ]
        process = subprocess.run(
            [sys.executable, __file__, "--inside", name, "--further", *options],
            capture_output=True,
            text=True,
            errors="replace",
            env=os.environ | {"TMPDIR": scratch} | ({"PYTHONHASHSEED": str(seed)} if seed else {}),
            check=False,
        )
        inputs = re.search(r"number_of_executed_units: (\d+)", process.stderr)
        memory = re.search(r"peak_rss_mb: +(\d+)", process.stderr)
        new = len(list(Path(corpus).iterdir()))
    count = int(inputs[1]) if inputs else 0
    result = "nothing" if not process.returncode else f"something, see {findings}/"
    summary = f"{count:>12,} inputs  {new:>5} new paths  {memory[1] if memory else '?':>5} MB  found {result}"
    print(f"{name:<20} {summary}", flush=True)  # noqa: T201 (a script)
    if process.returncode:
        sys.stderr.write(process.stderr[-4000:])
    return process.returncode


def _inside(name: str, options: list[str]) -> int:
    import atheris  # type: ignore[import-untyped, import-not-found, unused-ignore]  # an extra

    sys.path.insert(0, str(ROOT))
    with atheris.instrument_imports(include=INSTRUMENTED):
        targets = _targets()
    from loadgen.driver.client import sse

    sse.MAX_FRAME_BYTES = targets.SMALL  # type: ignore[attr-defined]  # few bytes reach beyond it
    atheris.Setup([sys.argv[0], *options], targets.TARGETS[name])
    atheris.Fuzz()
    return 0


def _names() -> list[str]:
    sys.path.insert(0, str(ROOT))
    return list(_targets().TARGETS)


def _targets() -> Any:
    spec = spec_from_file_location("targets", HERE / "targets.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    sys.exit(main())
