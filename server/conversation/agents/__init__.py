"""The agents that a page can talk to: the local model, flows, and agents elsewhere."""
