"""The questions: samples, and where they come from."""
