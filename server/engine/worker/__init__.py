"""The worker process, which runs one model: the only code that imports llama_cpp."""
