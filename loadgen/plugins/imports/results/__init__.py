"""Results of other programs' runs of benchmarks: one file a format, read into plain values."""
