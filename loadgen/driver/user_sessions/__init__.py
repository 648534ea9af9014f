"""The kinds of sessions that every run can have: single turns and conversations."""
