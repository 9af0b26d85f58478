"""Loading a model: the native library, its backends, the model, its context."""
