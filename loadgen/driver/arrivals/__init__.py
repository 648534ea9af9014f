"""When requests are meant to leave: spreads on rates, and how a rate is said."""
