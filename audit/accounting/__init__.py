"""Upper bounds: noise scales and certified privacy profiles of the six algorithms (`dpso calibrate`).

What may not enter: sampling; every number here is an upper bound.
"""
