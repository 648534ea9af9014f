"""The questions: samples, and the sources of samples."""
