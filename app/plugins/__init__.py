"""The Plugins page, and the questions that plugins ask."""
