"""LogHub: anomalies in pieces of the logs of systems (Zhu et al., arXiv:2008.06448).

LogHub has logs and no questions for language models: the prompt is this project's, the figures are those of
logpai/loglizer. The label at the beginning of each line of BGL and Thunderbird is not shown. A session of
HDFS is the lines of one block, up to a limit.
"""

from __future__ import annotations

import re
from itertools import count, islice
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading.anomaly import anomaly_in
from loadgen.plugins.evals.tasks.benchmarks import ScoreRule, benchmark
from workloads.cells import text
from workloads.errors import ColumnError, TaskError
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, graded, unparsed
from workloads.scorer import Headline, Reference
from workloads.sources import FileRow
from workloads.workload import Inputs, Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from workloads.answer import Answer

_COMMIT: Final = "dd61d0952749ee7963bde24220d1be5ede023033"
_PROMPT: Final = (
    "Below is a piece of the log of the system {system}. Does it show an anomaly, or normal behavior? Begin "
    "your answer with the word ANOMALY or NORMAL, then explain it in one or two sentences.\n\n{lines}"
)
_BLOCK: Final = re.compile(r"blk_-?\d+")
_ANOMALY, _NORMAL = "anomaly", "normal"
_LABELS: Final = "labels"
_SESSIONS: Final = "hdfs"


def questions(inputs: Inputs) -> Iterator[Question]:
    """One question for each window of lines, or for each block of HDFS."""
    subset, limit = inputs.options["subset"], inputs.options["lines"]
    if limit < 1:
        raise TaskError(f"loghub:lines={limit}: must be 1 or more")
    pieces = _sessions(inputs, limit) if subset == _SESSIONS else _windows(inputs, limit)
    for index, (name, lines, is_anomalous) in enumerate(pieces):
        prompt = _PROMPT.format(system=subset.upper(), lines="\n".join(lines))
        label = _ANOMALY if is_anomalous else _NORMAL
        yield Question(name, Sample(index, prompt, tags={"label": label}), {"anomaly": is_anomalous})


def _windows(inputs: Inputs, size: int) -> Iterator[tuple[str, Sequence[str], bool]]:
    """Windows of lines: anomalous where a line has a label other than `-`."""
    for number in count():
        if not (rows := list(islice(inputs.rows, size))):
            return
        parts = [str(row["line"]).partition(" ") for row in rows]
        yield str(number), [rest for _, _, rest in parts], any(label != "-" for label, _, _ in parts)


def _sessions(inputs: Inputs, limit: int) -> Iterator[tuple[str, Sequence[str], bool]]:
    """The lines of each block, in the order of the first lines."""
    labels = {row["BlockId"]: text(row, "Label") == "Anomaly" for row in inputs.more(_LABELS)}
    sessions: dict[str, list[str]] = {}
    for row in inputs.rows:
        line = str(row["line"])
        if block := _BLOCK.search(line):
            session = sessions.setdefault(block[0], [])
            if len(session) < limit:
                session.append(line)
    for block_id, lines in sessions.items():
        if block_id not in labels:
            raise ColumnError(f"anomaly_label.csv: no label for the block {block_id} of the log")
        yield block_id, lines, labels[block_id]


def grade(reference: Reference, answer: Answer) -> Score:
    """1 where the first of the words `anomaly`, `anomalous` and `normal` is right."""
    called = anomaly_in(answer.text)
    if called is None:
        return unparsed("neither ANOMALY nor NORMAL")
    return graded(called == reference["anomaly"], _ANOMALY if called else _NORMAL)


def _lines(path: Path, stored: bytes) -> Iterator[FileRow]:
    """A row for each line that is not blank."""
    for number, line in enumerate(stored.splitlines(), 1):
        if line.strip():
            yield FileRow(f"{path}, line {number}", {"line": line.decode(errors="replace").rstrip()})


def _log(system: str, *, sample: bool) -> Source:
    """A log: the whole file of a folder, else the 2,000 lines that the repository has."""
    published = f"https://raw.githubusercontent.com/logpai/loghub/{_COMMIT}/{system}/{system}_2k.log"
    return Source(
        files=(f"{system}.log*", f"{system}_2k.log") if sample else (f"{system}.log*",),
        urls=(published,) if sample else (),
        columns=("line",),
        revision=_COMMIT,
        licence="free for research, with a reference to logpai/loghub",
        read=_lines,
    )


def _share(part: str, whole: str) -> str:
    return f"coalesce({part} / nullif({whole}, 0), 0)"


_HITS: Final = f"count(*) FILTER (value = 1 AND tags['label'] = '{_ANOMALY}')"
_FALSE_ALARMS: Final = f"count(*) FILTER (value = 0 AND tags['label'] = '{_NORMAL}')"
_ANOMALIES: Final = f"count(*) FILTER (tags['label'] = '{_ANOMALY}')"
_HEADLINES: Final = (
    Headline("f1", _share(f"2 * {_HITS}", f"({_HITS} + {_FALSE_ALARMS} + {_ANOMALIES})")),
    Headline("precision", _share(_HITS, f"({_HITS} + {_FALSE_ALARMS})")),
    Headline("recall", _share(_HITS, _ANOMALIES)),
    Headline("accuracy", "avg(value)"),
    Headline("base_rate", f"{_ANOMALIES} / count(*)"),
)
_BGL: Final = _log("BGL", sample=True)

WORKLOAD: Final = benchmark(
    "loghub",
    questions,
    source=_BGL,
    further={_LABELS: Source(files=("anomaly_label.csv*",), columns=("BlockId", "Label"))},
    subsets={
        "bgl": _BGL,
        "thunderbird": _log("Thunderbird", sample=True),
        _SESSIONS: _log("HDFS", sample=False),
    },
    detection=ScoreRule(grade, headlines=_HEADLINES),
)
