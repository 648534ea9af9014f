"""What can be imported from `rulesets` itself, and what that loads."""

from __future__ import annotations

import subprocess
import sys

import pytest

import rulesets

LIGHT = """
import sys
import rulesets.definitions
print(*(name for name in sys.modules if name.startswith("rulesets.")))
"""


def test_every_public_name_is_there() -> None:
    """And nothing else: an unknown name raises `AttributeError`, as in any module."""
    assert all(getattr(rulesets, name) is not None for name in rulesets.__all__)
    assert rulesets.evaluate.__module__ == "rulesets.evaluation"
    with pytest.raises(AttributeError, match="no attribute 'jugde'"):
        rulesets.jugde  # noqa: B018 (asking for it is the test)


def test_who_needs_definitions_loads_no_judge() -> None:
    """A run without rules, and its report, wait for nothing that they do not use."""
    done = subprocess.run([sys.executable, "-c", LIGHT], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["rulesets.definitions"]
