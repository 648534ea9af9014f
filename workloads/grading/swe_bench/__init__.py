"""SWE-bench: statuses of tests out of logs, and whether they resolve the instance."""
