"""Agentic load: sessions of agents as trees of turns, from traces or made up."""
