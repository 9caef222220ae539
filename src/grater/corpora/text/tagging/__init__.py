"""Our own part-of-speech tagger: features, training, and the tagger itself."""
