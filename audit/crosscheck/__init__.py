"""Foreign implementations on the test vectors: the first line of the paper on which they differ.

What may not enter: expected values that no vector holds.
"""
