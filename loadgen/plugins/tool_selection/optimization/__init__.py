"""The optimization of tool descriptions: a model proposes candidates, and better ones are kept."""
