"""Damaged copies of a log: the program reports each, or says that it is damaged.

Rows and columns are dropped, doubled, reordered and given values of other types; files are torn and cut off.
The damage is that of the fuzzer (`tests/fuzz/targets.py`).
"""

from __future__ import annotations

import multiprocessing
import os
import random
import shutil
import sys
from collections import Counter
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from loadgen.cli import app

if TYPE_CHECKING:
    from collections.abc import Mapping

_TARGETS: Final = Path(__file__).parents[1] / "tests" / "fuzz" / "targets.py"
_PATIENCE_S: Final = 120.0
_OUTCOMES: Final = {0: "reported", 4: "reported as invalid", 2: "reported as damaged"}
_TABLES: Final = 6
_CHANGES: Final = 5
"""Rows dropped, doubled and reordered, columns dropped, and other values."""

_WAYS: Final = 10
_TORN: Final = 8
_CUT_OFF: Final = 9
"""Of ten copies one is torn, one cut off, and the others have changes of rows and columns."""

_COMMANDS: Final = (("report",), ("sql", "from requests; from events"))


@dataclass(frozen=True, slots=True)
class Damaged:
    """The outcomes of the damaged copies.

    Attributes:
        outcomes: How many commands ended in which way.
        wrong: Those that ended in another, in sentences.
    """

    outcomes: Mapping[str, int]
    wrong: tuple[str, ...]


def damaged_logs(log: Path, copies: int, seed: int) -> Damaged:
    """Damage copies of a log, each in another way, and have them read.

    Args:
        log: The log of a run that is over.
        copies: How many.
        seed: The same one damages in the same ways.
    """
    spoil = _targets().spoil
    rng = random.Random(seed)  # noqa: S311 (no secret depends on it)
    outcomes: Counter[str] = Counter()
    wrong = []
    with TemporaryDirectory(prefix="loadgen-damaged-") as folder:
        run = Path(folder) / "run"
        for copy in range(copies):
            run.mkdir()
            shutil.copy(log, run / "events.db")
            damage = _damage(rng, copy)
            spoil(run / "events.db", damage)
            for name, *arguments in _COMMANDS:
                code = _exit_code([name, str(run), *arguments], Path(folder) / "output")
                if code in _OUTCOMES:
                    outcomes[_OUTCOMES[code]] += 1
                else:
                    messages = (Path(folder) / "output").read_text(errors="replace").strip().splitlines()
                    wrong.append(
                        f"{name} of a log with damage {damage.hex()}: exit {code}: {' '.join(messages[-2:])}"
                    )
            shutil.rmtree(run)
    return Damaged(dict(outcomes.most_common()), tuple(wrong))


def _damage(rng: random.Random, copy: int) -> bytes:
    """What the fuzzer's `spoil` takes."""
    if copy % _WAYS == _TORN:
        return b"\xff" + rng.randbytes(40)
    if copy % _WAYS == _CUT_OFF:
        return b"\xfe" + rng.randbytes(3)
    changes = [
        bytes([(copy + number) % _CHANGES * _TABLES + rng.randrange(_TABLES)]) + rng.randbytes(3)
        for number in range(rng.randint(1, 3))
    ]
    return b"".join(changes)


def _exit_code(arguments: list[str], message_file: Path) -> int | None:
    """How the program ends, in a separate process that has imported it; None when it does not end."""
    process = multiprocessing.get_context("fork").Process(target=_run, args=(arguments, message_file))
    process.start()
    process.join(_PATIENCE_S)
    if process.exitcode is None:
        process.kill()
        process.join()
        return None
    return process.exitcode


def _run(arguments: list[str], message_file: Path) -> None:
    with message_file.open("wb") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    sys.argv = ["loadgen", *arguments]
    code = app.main()
    sys.stderr.flush()
    os._exit(code)


def _targets() -> Any:
    spec = spec_from_file_location("fuzz_targets", _TARGETS)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(_TARGETS)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
