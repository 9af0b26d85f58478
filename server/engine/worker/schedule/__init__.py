"""Computing many answers at once: slots, batches, steps, and the reuse of earlier results."""
