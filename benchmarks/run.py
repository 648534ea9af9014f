"""Every benchmark, one after the other: `make bench`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

BENCHMARKS = (
    "startup",
    "recorder_cost",
    "arrivals",
    "report_scale",
    "log_scale",
    "page_scale",
    "gate_scale",
    "scoring",
    "containers",
    "agents",
    "scores_scale",
    "nodes",
    "timing",
    "capacity",
)

for name in BENCHMARKS:
    print(f"== {name}", flush=True)
    subprocess.run([sys.executable, Path(__file__).with_name(f"{name}.py")], check=True)
    print(flush=True)
