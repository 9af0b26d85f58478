"""Walls of the operating system around the programs of plugins."""
