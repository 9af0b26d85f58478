"""The window process: its window, its tray and its link to the server."""
