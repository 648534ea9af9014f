"""The plainest trace: `timestamp,input_tokens,output_tokens`, in seconds or as dates."""

from __future__ import annotations

from typing import Final

from workloads.traces.table import TraceTable

TABLE: Final = TraceTable("timestamp", "input_tokens", "output_tokens")
