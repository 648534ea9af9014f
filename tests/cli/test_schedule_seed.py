"""Seeds of 64 bits, one of arrivals and one of everything else, from the command line to the verdict."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

import orjson
import pytest
import yaml

from loadgen.driver.arrivals.rate_profile import Flat
from loadgen.driver.load import ProcessArrivals
from loadgen.driver.requests.order import order_of
from loadgen.plugins.exports.command import export
from loadgen.sessions.run_session import run
from loadgen.sessions.settings.export import ExportSettings
from loadgen.sessions.settings.perf import perf_settings
from reporter import MetricsReporter

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.mock_endpoint.process import MockProcess

SEED, SCHEDULE_SEED = 2**64 - 59, 16159082839903944936
RULES = f"""\
schema: rulesets/1
ruleset: {{name: seeds, version: '1'}}
seeds: {{sample_index: {SEED}, schedule: {SCHEDULE_SEED}}}
models: {{"*": {{scenarios: {{one: {{targets: ['ttft:p(50)<10s'], audit: [seed_match]}}}}}}}}
"""


@pytest.mark.slow
def test_both_seeds_are_used_and_stored_to_the_last_digit(mock: MockProcess, tmp_path: Path) -> None:
    """Arrivals by the one, samples by the other; report, verdict and export have both."""
    (tmp_path / "rules.yaml").write_text(RULES)
    (tmp_path / "q.jsonl").write_text("".join(f'{{"prompt": "question {number}"}}\n' for number in range(9)))
    settings = perf_settings(
        url=[mock.url],
        model="small-model",
        api_key="sk-right-key",
        prompts=str(tmp_path / "q.jsonl"),
        order="shuffle",
        rate="50",
        requests=9,
        seed=SEED,
        schedule_seed=SCHEDULE_SEED,
        ruleset=str(tmp_path / "rules.yaml"),
        out=tmp_path / "run",
        quiet=True,
    )
    report, folder = run(settings)
    assert (report.run.seed, report.run.schedule_seed) == (SEED, SCHEDULE_SEED)
    written = orjson.loads((folder / "report.json").read_bytes())["run"]
    assert (written["seed"], written["schedule_seed"]) == (SEED, SCHEDULE_SEED)
    with MetricsReporter(folder) as reporter:
        reporter.create_report()
        asked = reporter.log.execute(
            "SELECT prompt_id, scheduled_ns - min(scheduled_ns) OVER () FROM samples ORDER BY scheduled_ns"
        ).fetchall()
    due = list(islice(ProcessArrivals("poisson", Flat(50.0)).offsets(SCHEDULE_SEED), 9))
    assert [after_ns for _, after_ns in asked] == [moment - due[0] for moment in due]
    order = order_of("shuffle", 9, SEED)
    assert [prompt for prompt, _ in asked] == [order(number) for number in range(9)]
    assert report.verdict is not None
    rows = {row.id: row.status for row in report.verdict.rows}
    judged = {name: rows[name] for name in ("seeds.sample_index", "seeds.schedule", "audit.seed_match")}
    assert set(judged.values()) == {"PASS"}
    with suppress(SystemExit):  # a busy machine may make the run invalid; it is exported all the same
        export(ExportSettings(run=folder, mlperf_endpoints=tmp_path / "out"))
    runtime = yaml.safe_load((tmp_path / "out" / "config.yaml").read_bytes())["settings"]["runtime"]
    assert (runtime["dataloader_random_seed"], runtime["scheduler_random_seed"]) == (SEED, SCHEDULE_SEED)
