"""The times of each request by the server's own clock, beside the client's."""
