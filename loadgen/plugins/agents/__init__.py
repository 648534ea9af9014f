"""Episodes: tasks of many turns, written as plain async code that asks a model and calls tools."""
