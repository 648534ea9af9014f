"""The gate: the rules that a run is evaluated by, and the files of the verdict."""
