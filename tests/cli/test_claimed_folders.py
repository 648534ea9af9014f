"""Folders that the program chooses: no two processes choose the same one, and an unused one does not stay."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from loadgen.sessions.errors import SetupError
from loadgen.sessions.files import run_folder
from loadgen.sessions.files.run_folder import claim, give_back, is_claimed

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from loadgen.mock_endpoint.process import MockProcess

KEY = ("--api-key", "sk-right-key")


@pytest.fixture(autouse=True)
def _others() -> Iterator[None]:
    """What a test claims is forgotten after it."""
    yield
    run_folder._claimed.clear()


def test_each_claim_is_another_folder(tmp_path: Path) -> None:
    """However many ask for the same name at the same time."""
    wanted = tmp_path / "runs" / "20260101-000000-m"
    with ThreadPoolExecutor(16) as pool:
        folders = list(pool.map(claim, [wanted] * 64))
    assert len(set(folders)) == 64
    assert all(folder.is_dir() for folder in folders)
    assert min(folder.name for folder in folders) == wanted.name
    assert (tmp_path / "runs" / f"{wanted.name}-64").is_dir()


def test_an_unused_folder_is_removed(tmp_path: Path) -> None:
    """With the folder around it, where that was made for it; never a folder with files."""
    used, unused = claim(tmp_path / "runs" / "a"), claim(tmp_path / "runs" / "a")
    (used / "events.db").touch()
    assert is_claimed(unused)
    give_back()
    assert (used.is_dir(), unused.exists(), is_claimed(used)) == (True, False, False)
    empty = claim(tmp_path / "others" / "a")
    give_back()
    assert not empty.parent.exists()


def test_a_place_where_no_folder_can_be_made(tmp_path: Path) -> None:
    """The error says what to type, and the search for a name ends."""
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere" / "at" / "all")
    for parent, reason in (("file", "Not a directory"), ("link", "No such file or directory")):
        with pytest.raises(SetupError, match=rf"{parent}/run: cannot be made \({reason}\); give --out"):
            claim(tmp_path / parent / "run")


def test_runs_that_start_together(
    start_loadgen: Callable[..., subprocess.Popen[str]], mock: MockProcess, tmp_path: Path
) -> None:
    """Each has a separate folder, and its own log in it."""
    command = ("perf", "--url", mock.url, "--model", "small-model", *KEY, "-n", 3, "-q")
    runs = [start_loadgen(*command) for _ in range(4)]
    stderrs = [run.communicate(timeout=120)[1] for run in runs]
    assert not [stderr for stderr in stderrs if "error:" in stderr]
    assert len(list(tmp_path.glob("runs/*/events.db"))) == 4


@pytest.mark.parametrize("command", [("perf", "-n", 3), ("sweep", "-c", "1,2", "-n", 3)])
def test_a_run_that_cannot_start_leaves_nothing(
    start_loadgen: Callable[..., subprocess.Popen[str]], tmp_path: Path, command: tuple[str, ...]
) -> None:
    """Neither a folder nor the one around it."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
        run = start_loadgen(*command, "--url", url, "--model", "m")
        _, stderr = run.communicate(timeout=120)
    assert run.returncode == 3, stderr
    assert list(tmp_path.iterdir()) == []
