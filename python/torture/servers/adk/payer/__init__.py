"""The agent of the ADK server."""
