"""Structure-aware fuzzing of files: valid files with wrong values, for every reader of files.

`python tests/fuzz/files.py [READER …] --seconds N` tries random damage in one process per reader; a case that
ends with an error which the command line would report as a bug (exit 70), or that takes more than
`SLOWEST_S`, is a finding. `--case READER:NUMBER` tries one case again, with its traceback.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final

ROOT: Final = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from loadgen.sessions.error_exit_codes import exit_code  # noqa: E402 (the path comes first)
from tests.fuzz.damage import damage  # noqa: E402
from tests.fuzz.readers import READERS  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

SLOWEST_S: Final = 30
"""Of CPU time, for one case: a busy machine takes longer."""


def main() -> int:
    """Run the readers that were named, else all; return 1 where a case is a finding."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("readers", nargs="*", metavar="READER", help=f"of {', '.join(READERS)}")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each reader (60)")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="the number of the first case")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--case", metavar="READER:NUMBER", help="try this case alone")
    arguments = parser.parse_args()
    if arguments.case:
        reader, _, number = arguments.case.partition(":")
        return 0 if passes(reader, int(number)) else 1
    if arguments.inside:
        return _inside(arguments.readers[0], arguments.seconds, arguments.seed)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        codes = list(
            pool.map(
                lambda reader: _outside(reader, arguments.seconds, arguments.seed),
                arguments.readers or READERS,
            )
        )
    return int(any(codes))


def _outside(reader: str, seconds: float, seed: int) -> int:
    """Fuzz one reader in a separate process, which a crash or a stall ends."""
    options: Sequence[str] = [reader, "--seconds", str(seconds), "--seed", str(seed), "--inside"]
    process = subprocess.run(
        [sys.executable, __file__, *options], capture_output=True, text=True, errors="replace", check=False
    )
    print(process.stdout or reader, end="", flush=True)  # noqa: T201 (a script)
    if process.returncode:
        sys.stderr.write(process.stderr[-4000:])
    return process.returncode


def _inside(reader: str, seconds: float, seed: int) -> int:
    give_up, number, findings = time.monotonic() + seconds, seed, []
    while time.monotonic() < give_up or number == seed:
        if not passes(reader, number):
            findings.append(f"{reader}:{number}")
        number += 1
    result = f"--case {', '.join(findings[:20])}" if findings else "nothing"
    print(f"{reader:<20} {number - seed:>8,} cases  found {result}")  # noqa: T201 (a script)
    return int(bool(findings))


def passes(reader: str, number: int) -> bool:
    """Try one case: the same number has the same damage."""
    rng = random.Random(f"{reader}:{number}")  # noqa: S311 (damage, not a secret)
    folder = Path(tempfile.mkdtemp(prefix="loadgen-fuzz-"))
    over = threading.Event()
    try:
        make, read = READERS[reader]
        make(folder, rng)
        damage(folder, rng)
        threading.Thread(target=_watch, args=(over, f"{reader}:{number}"), daemon=True).start()
        return is_explained(read, folder)
    finally:
        over.set()
        shutil.rmtree(folder, ignore_errors=True)


def _watch(over: threading.Event, case: str) -> None:
    """End the process when a case takes too long."""
    begun_s = time.process_time()
    while not over.wait(1.0):
        if time.process_time() - begun_s > SLOWEST_S:
            faulthandler.dump_traceback()
            print(f"{case} takes more than {SLOWEST_S} s of CPU time", flush=True)  # noqa: T201 (a script)
            os._exit(1)


def is_explained(read: object, folder: Path) -> bool:
    """Whether a reader succeeds, or fails with an error that is not a bug; a bug's traceback is printed."""
    assert callable(read)
    try:
        read(folder)
    except Exception as error:  # noqa: BLE001 (that is what is looked for)
        if exit_code(error) is None:
            sys.excepthook(type(error), error, error.__traceback__)
            return False
    return True


if __name__ == "__main__":
    sys.exit(main())
