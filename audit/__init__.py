"""Is it true? Empirical, adversarial and, where possible, rigorous checks of the paper and of anybody's mechanism."""
