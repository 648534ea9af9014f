"""What an import of a part of `rulesets` loads."""

from __future__ import annotations

import subprocess
import sys

LIGHT = """
import sys
import rulesets.definitions
print(*(name for name in sys.modules if name.startswith("rulesets.")))
"""


def test_who_needs_definitions_loads_no_judge() -> None:
    """A run without rules, and its report, wait for nothing that they do not use."""
    done = subprocess.run([sys.executable, "-c", LIGHT], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["rulesets.definitions"]
