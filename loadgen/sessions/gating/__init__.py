"""The gate: which rules a run is held against, and what is told of the verdict, where."""
