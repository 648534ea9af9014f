"""The worlds of tau2: sierra-research/tau2-bench at a2c02472, `src/tau2/domains`."""
