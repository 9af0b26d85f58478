"""The operating system's sandbox around the programs of plugins."""
