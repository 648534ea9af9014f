"""How the user can start this program again."""

from __future__ import annotations

import shutil
import sys


def program() -> str:
    """The program's name where a shell finds it, else its path."""
    return "loadgen" if shutil.which("loadgen") else sys.argv[0]
