"""The interface of the core for windows and terminals, and its transport between processes."""
