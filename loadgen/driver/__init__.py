"""The driver: issue requests on a plan, stamp what happens, and put every event on the recorder's queue."""
