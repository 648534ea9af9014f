"""tau-bench, airline and retail: tools over the databases, and the reward."""
