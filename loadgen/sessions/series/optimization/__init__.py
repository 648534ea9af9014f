"""The optimization of tool descriptions: candidates are proposed by a model, and kept if they are better."""
