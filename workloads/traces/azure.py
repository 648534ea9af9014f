"""The traces of Azure's LLM inference services (2023, 2024): `TIMESTAMP,ContextTokens,GeneratedTokens`.

Times are dates with up to seven digits of a second; those of 2024 have `+00:00` after them. The multimodal
trace has a column more, `NumImages`, which is not replayed. Source: github.com/Azure/AzurePublicDataset.
"""

from __future__ import annotations

from typing import Final

from workloads.traces.table import TraceTable

TABLE: Final = TraceTable("TIMESTAMP", "ContextTokens", "GeneratedTokens")
