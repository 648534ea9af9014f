"""Values that a report has: scores, cost, energy, the server's own figures."""
