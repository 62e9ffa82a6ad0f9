"""Arithmetic and randomness: number systems, enclosures, preconditions, noise tapes, exact samplers.

What may not enter: anything about the paper.
"""
