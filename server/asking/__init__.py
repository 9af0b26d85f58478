"""Questions to the model whose answers are bound, within its context."""
