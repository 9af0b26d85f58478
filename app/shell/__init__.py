"""The window role: its process, its window, its tray and the link to the server."""
