"""How good a detector is: counts for each item, then scores with intervals."""
