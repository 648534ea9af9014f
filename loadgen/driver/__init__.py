"""The driver: issues requests on a plan, stamps events, and queues every event for the recorder."""
