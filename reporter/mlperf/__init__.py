"""A run in the files that mlcommons/endpoints writes, which MLPerf's submission checkers read."""
