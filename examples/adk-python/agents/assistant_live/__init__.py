"""The same assistant in live mode, where ADK has no confirmation."""
