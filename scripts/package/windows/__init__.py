"""Makes setup.exe for Windows, on Linux or on Windows itself."""
