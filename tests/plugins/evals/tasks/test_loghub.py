"""LogHub: windows and sessions of logs, labels that the model does not see, and the figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import duckdb
import pytest

from loadgen.plugins.evals.grading.anomaly import anomaly_in, detection
from workloads.answer import Answer
from workloads.catalog import workload
from workloads.errors import ColumnError, SourceError, TaskError
from workloads.question_loading import load
from workloads.score import Status
from workloads.task import parse

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from workloads.question import Question

BGL: Final = "- 1 node INFO fine\n\nKERNDTLB 2 node FATAL tlb\n- 3 node INFO fine\n- 4 \xff node\n- 5 last\n"
HDFS: Final = """\
081109 1 INFO for block blk_1 begins
081109 2 INFO for block blk_-2 begins
081109 3 INFO without a block
081109 4 INFO for block blk_1 goes on
081109 5 INFO for block blk_1 ends
"""


def asked(folder: Path, task: str, **files: str) -> Sequence[Question]:
    """The questions of a task, of files by name."""
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_bytes(text.encode("latin-1"))
    return load(parse(task), folder).questions


@pytest.mark.parametrize(("subset", "file"), [("bgl", "BGL__log"), ("thunderbird", "Thunderbird_2k__log")])
def test_a_window_is_anomalous_by_any_of_its_lines(tmp_path: Path, subset: str, file: str) -> None:
    """The label of a line is not in the prompt; the last window may be shorter, blank lines do not count."""
    first, second, third = asked(tmp_path, f"loghub:subset={subset},lines=2", **{file: BGL})
    assert [item.reference["anomaly"] for item in (first, second, third)] == [True, False, False]
    assert [item.sample.tags["label"] for item in (first, second)] == ["anomaly", "normal"]
    assert first.sample.prompt.endswith("sentences.\n\n1 node INFO fine\n2 node FATAL tlb")
    assert second.sample.prompt.endswith("\n3 node INFO fine\n4 \ufffd node")
    assert third.sample.prompt.endswith("\n\n5 last")
    assert "KERNDTLB" not in first.sample.prompt


def test_a_session_is_the_lines_of_a_block(tmp_path: Path) -> None:
    """Up to `lines` of them; a block without a label is an error."""
    labels = "BlockId,Label\nblk_-2,Anomaly\nblk_1,Normal\n"
    task = "loghub:subset=hdfs,lines=2"
    first, second = asked(tmp_path, task, HDFS__log=HDFS, anomaly_label__csv=labels)
    assert [(item.id, item.reference["anomaly"]) for item in (first, second)] == [
        ("blk_1", False),
        ("blk_-2", True),
    ]
    assert first.sample.prompt.endswith("begins\n081109 4 INFO for block blk_1 goes on")
    with pytest.raises(ColumnError, match="no label for the block blk_1"):
        asked(tmp_path, task, anomaly_label__csv=labels.replace("blk_1,", "blk_3,"))


def test_what_cannot_be_asked(tmp_path: Path) -> None:
    """A log that is in no folder, and windows without lines."""
    with pytest.raises(SourceError, match=r"no file HDFS\.log\*"):
        asked(tmp_path, "loghub:subset=hdfs")
    with pytest.raises(TaskError, match="lines=0: must be 1 or more"):
        asked(tmp_path, "loghub:lines=0", BGL__log=BGL)


@pytest.mark.parametrize(
    "answers",
    [
        ["ANOMALY", "Normal: fine.", "An anomalous line", "What?", "normal"],
        ["normal"] * 5,
        ["neither"] * 5,
        ["anomaly, not normal", "ANOMALY", "ANOMALY", "ANOMALY", "ANOMALY"],
    ],
)
@pytest.mark.parametrize("labels", [[True, False, False, True, True], [False] * 5])
def test_headlines_are_the_figures_of_a_detection(answers: list[str], labels: list[bool]) -> None:
    """Those of `loadgen.plugins.evals.grading.anomaly`, which agrees with logpai/loglizer."""
    scorer = workload("loghub").scorers[0]
    connection = duckdb.connect()
    connection.execute("CREATE TABLE scores (value DOUBLE, tags MAP(VARCHAR, VARCHAR))")
    for text, label in zip(answers, labels, strict=True):
        score = scorer.grade({"anomaly": label}, Answer(text))
        assert (score.status is Status.UNPARSED) == (anomaly_in(text) is None)
        tags = {"label": "anomaly" if label else "normal"}
        connection.execute("INSERT INTO scores VALUES (?, ?)", [score.value, tags])
    figures = ", ".join(headline.sql for headline in scorer.headlines)
    (row,) = connection.sql("FROM scores").aggregate(figures).fetchall()
    wanted = detection([anomaly_in(text) for text in answers], labels)
    assert row == pytest.approx(
        (wanted.f1, wanted.precision, wanted.recall, wanted.accuracy, wanted.base_rate)
    )
