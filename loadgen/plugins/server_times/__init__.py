"""The times of each request by the server's own clock, next to the client's."""
