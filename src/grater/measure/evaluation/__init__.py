"""How good a system is: counts for each case, then scores with intervals."""
