"""Many answers at once: slots, batches, steps, what is kept for reuse."""
