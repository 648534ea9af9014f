"""Isolated execution of model-written code: separate processes, with limits, without a network."""
