"""From a request to tokens: templates, vocabulary, pictures."""
