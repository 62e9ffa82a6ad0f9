"""The text as data: its statements, errata and lines, its editions, and the links from code to statements.

What may not enter: formulas; they are in the rooms of their sections.
"""
