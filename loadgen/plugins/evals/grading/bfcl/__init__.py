"""The Berkeley Function-Calling Leaderboard: extraction of calls from answers, and their check."""
