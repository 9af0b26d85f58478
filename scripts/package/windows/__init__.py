"""A setup.exe for Windows, made on Linux or on Windows itself."""
