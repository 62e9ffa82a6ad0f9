"""Checks of the paper's statements: what `dpso audit` runs. One module a section; `framework` holds the machinery.

What may not enter: a verdict. Checks give results, and `framework` derives the verdict from those that ran.
"""
