"""Checksums of benchmarks with episodes are those of logs made before their modules moved."""

from __future__ import annotations

import pytest

from workloads.benchmark import dataset
from workloads.task import parse


@pytest.mark.parametrize(
    ("name", "sha256"),
    [
        ("toolcall15", "66f4b5ff0fccc8fc02ee111617a5ff50ba6ffdfb759ef4013f8978374f5f9646"),
        ("browser_assistant", "6909bb67a7bb99212400ca7bcb5c15ad75eb7fc0713b90f929f67822f681daef"),
    ],
)
def test_a_run_of_an_earlier_version_asks_the_same(name: str, sha256: str) -> None:
    """A checksum that changed would refuse to resume the run, and tell `compare` of another dataset."""
    assert dataset([parse(name)]).sha256 == sha256
