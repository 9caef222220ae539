"""Gold units and disputes about them."""
