"""Simulated worlds for agents: state as JSON, and tools as functions of the state."""
