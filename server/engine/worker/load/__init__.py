"""Loading a model: the native library and its backends, the model and its context."""
