"""Episodes under load: tasks of many turns, each of which is a measured request."""
