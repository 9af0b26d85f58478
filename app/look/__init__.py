"""What every page is built from: theme, texts, controls and layouts."""
