"""What every room needs to run: errors, files, one pool of workers, one store of finished work.

What may not enter: knowledge of the paper or of mechanisms.
"""
