"""SWE-bench: test statuses in logs, and the resolution of an instance."""
