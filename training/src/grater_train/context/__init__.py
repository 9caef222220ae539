"""Training of `context`: from well-formed text to a network; needs PyTorch (`grater-train[context]`)."""
