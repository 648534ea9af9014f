"""BurstGPT: `Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type`, and sessions later.

Times are seconds from the start. A request without response tokens is one that failed. Source:
github.com/HPMLL/BurstGPT.
"""

from __future__ import annotations

from typing import Final

from workloads.traces.table import TraceTable

TABLE: Final = TraceTable("Timestamp", "Request tokens", "Response tokens")
