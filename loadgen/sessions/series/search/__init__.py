"""The search for the limit: the highest rate, or number of users, that meets the requirements."""
