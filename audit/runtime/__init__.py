"""What every room needs to run: errors, files, workers, the journal of finished work.

What may not enter: knowledge of the paper or of mechanisms.
"""
