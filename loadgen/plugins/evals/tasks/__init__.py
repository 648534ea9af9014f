"""One benchmark, one file: the questions, and the scoring of answers; `benchmarks.toml` has the rest."""
