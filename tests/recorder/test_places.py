"""Where a log can be made, and where not: an error that names the place, and nothing is left behind."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from recorder.errors import LogNotMadeError
from recorder.event import Event, EventType
from recorder.session import Session
from recorder.store import Store, verify
from recorder.writer import EventRecorder

ODD = ["a b", "a\nb", "-rf", "a'b\"c", "a%20b?c#d", "日本", os.fsdecode(b"\xff\xfe"), "~", "$HOME", "n" * 200]
"""Names that a shell, a URI or a terminal could take for something else."""


@pytest.mark.parametrize("name", ODD, ids=ascii)
def test_a_folder_of_an_odd_name(tmp_path: Path, name: str) -> None:
    """Names are taken as they are."""
    log = tmp_path / name / "events.db"
    with EventRecorder(path=log) as recorder:
        recorder.put(Event(EventType.TEST_STARTED, 1))
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert [path.name for path in log.parent.iterdir()] == ["events.db"]
    verify(log)


def not_writable(tmp_path: Path) -> Path:
    """A folder that its owner must not write to either."""
    if os.geteuid() == 0:
        pytest.skip("the administrator may write everywhere")
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o555)
    return folder


def not_a_disk(_: Path) -> Path:
    """Where the kernel keeps what it tells, nobody makes a file."""
    if sys.platform != "linux":
        pytest.skip("there is no /proc")
    return Path("/proc/self")


def too_long(tmp_path: Path) -> Path:
    """A name of more characters than a name can have."""
    return tmp_path / ("n" * 300)


def too_deep(tmp_path: Path) -> Path:
    """A path of more characters than a path can have."""
    return tmp_path.joinpath(*["n" * 200] * 30)


def below_a_file(tmp_path: Path) -> Path:
    """Where a file stands there can be no folder."""
    (tmp_path / "file").write_text("")
    return tmp_path / "file"


def in_a_circle(tmp_path: Path) -> Path:
    """A link to itself leads nowhere."""
    (tmp_path / "link").symlink_to(tmp_path / "link")
    return tmp_path / "link"


@pytest.mark.parametrize("place", [not_writable, not_a_disk, too_long, too_deep, below_a_file, in_a_circle])
def test_a_place_where_no_log_can_be(tmp_path: Path, place: object) -> None:
    """The error says so, and another folder will do."""
    assert callable(place)
    folder = place(tmp_path)
    with pytest.raises(LogNotMadeError, match=r"no log can be made here .*; choose another folder"):
        Store.create(folder / "run" / "events.db", Session())
