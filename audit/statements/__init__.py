"""Checks of the paper's statements: what `dpso audit` runs. One module a section; `framework` holds the machinery."""
