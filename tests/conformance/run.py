"""Every scorer on recorded outputs of real models, compared with the verdicts that were recorded.

    python tests/conformance/run.py DATA [NAME…]

`make conformance` calls it. Each module in this folder has `NEEDS`, files or folders of DATA, and
`agreements(data)`, which yields `Agreement`s. One whose data is not there is skipped, and listed as such.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tests.conformance.agreement import Agreement

HERE: Final = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

_NO_MODULES: Final = frozenset({"run", "agreement"})
_MOST_WRONG: Final = 5


def main(arguments: list[str]) -> int:
    """Print the table; 1 where a scorer disagrees, 2 where nothing could be checked."""
    data, names = Path(arguments[0]), arguments[1:] or sorted(modules())
    if not data.is_dir():
        print(f"SKIP: there is no {data}; name the folder of recorded outputs with CONFORMANCE_DATA")
        return 0
    failed = checked = 0
    print(f"{'scorer':<64} {'outputs':>8} {'agree':>8}  exceptions")
    for name in names:
        module = import_module(f"tests.conformance.{name}")
        if missing := [package for package in getattr(module, "PACKAGES", ()) if not find_spec(package)]:
            print(f"{name:<64} SKIP: {', '.join(missing)} is not installed")
            continue
        if missing := [need for need in module.NEEDS if not (data / need).exists()]:
            print(f"{name:<64} SKIP: {', '.join(missing)} is not in {data}")
            continue
        since = perf_counter()
        for agreement in module.agreements(data):
            checked += 1
            failed += not agreement.passes
            _print_row(agreement)
        print(f"{'':<64} {perf_counter() - since:>8.1f} s", flush=True)
    if failed:
        print(f"{failed} of {checked} lines disagree")
        return 1
    print(f"{checked} lines, all agree outside of the exceptions" if checked else "nothing could be checked")
    return 0 if checked else 2


def modules() -> set[str]:
    """The modules that check something, by name."""
    return {path.stem for path in HERE.glob("*.py")} - _NO_MODULES


def _print_row(agreement: Agreement) -> None:
    remark = "; ".join(f"{count} of them {reason}" for reason, count in agreement.exceptions.items())
    if agreement.shortcut:
        remark = "a shortcut, which must disagree"
    mark = "" if agreement.passes else "  DISAGREES"
    print(f"{agreement.scorer:<64} {agreement.outputs:>8} {agreement.agree:>8}  {remark}{mark}")
    if not agreement.passes:
        for difference in agreement.wrong[:_MOST_WRONG]:
            print(f"    {difference}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
