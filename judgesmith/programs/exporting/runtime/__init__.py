"""What an exported file has of its own: with the standard library and the openai client alone.

These modules are read, not imported: ``exporting.bundling`` puts them into one file together with
those modules of the package that need no more, such as the fences around texts, the reading of
answers, and the steps of each family.
"""
