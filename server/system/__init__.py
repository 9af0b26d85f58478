"""Access to the operating system: folders, files, secrets, logs, processes, the machine."""
