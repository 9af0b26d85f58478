"""What the operating system gives: folders, files, secrets, logs, processes, the machine."""
