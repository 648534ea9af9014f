"""Versions of packages, read without their metadata."""

from __future__ import annotations

from importlib.metadata import version

import pytest

from loadgen.sessions.environment import package_version


@pytest.mark.parametrize("package", ["llm-loadgen", "httptools", "orjson", "pytest"])
def test_it_is_what_the_metadata_say(package: str) -> None:
    """A README in the metadata changes nothing."""
    assert package_version(package) == version(package)


def test_a_missing_package_has_none() -> None:
    """The log lists what is installed."""
    assert package_version("no-such-package") is None
