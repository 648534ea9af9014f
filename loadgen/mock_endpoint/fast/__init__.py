"""The mock endpoint's fast engine: one thread with a dedicated event loop, made to be on time.

    poller       waits for sockets, and for a moment to the microsecond
    connection   one client: bytes to requests, and answers to bytes
    service      from a request to its answer, as a task that says when it wants to go on
    events       the bytes of a stream's events, encoded before they are needed
    slots        the queue
    engine       the loop: runs what is due, then what the sockets bring
    ledger       keeps the truth until there is time to write it

A task is a generator that yields the time at which it is to be resumed: a coroutine, as under asyncio, but a
heap of due times is the whole scheduler.
"""
