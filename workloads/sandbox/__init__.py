"""Where code that a model wrote is run: in a process of its own, with limits, away from the network."""
