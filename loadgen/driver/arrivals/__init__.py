"""When requests are due: arrival processes at rates, and how a rate is written."""
