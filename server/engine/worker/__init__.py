"""The worker role: the only code that imports llama_cpp. Runs in a child process of its own."""
