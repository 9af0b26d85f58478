"""The parts of every page: theme, texts, controls and layouts."""
