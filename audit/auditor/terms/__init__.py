"""What an audit speaks of: outputs as tables, neighbouring datasets, findings and results.

What may not enter: anything that calls a mechanism.
"""
