"""Actions in a plugin's own Python code, run in a child process."""
