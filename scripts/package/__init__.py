"""From a clone to files a person can install."""
