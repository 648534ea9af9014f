"""What can be imported from the packages themselves, on first use."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import loadgen
import recorder
import reporter
import rulesets
from tests.for_each import for_each

PACKAGES = (loadgen, recorder, reporter, rulesets)


@for_each("package", PACKAGES)
def test_every_public_name_is_there(package: Any) -> None:
    """And nothing else: an unknown name raises `AttributeError`, as in any module."""
    on_use = {name for names in package._HOMES.values() for name in names}
    assert on_use <= set(package.__all__)
    assert all(getattr(package, name) is not None for name in package.__all__)
    with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no attribute 'jugde'"):
        package.jugde  # noqa: B018 (asking for it is the test)


def test_names_are_imported_on_use_in_one_way() -> None:
    """Packages that import nothing of each other have the same few lines for it."""
    assert len({inspect.getsource(package.__getattr__) for package in PACKAGES}) == 1
