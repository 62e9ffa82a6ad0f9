"""From outputs to a score that tells the two datasets apart.

What may not enter: error levels; any score is valid.
"""
