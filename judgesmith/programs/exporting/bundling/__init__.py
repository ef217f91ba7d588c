"""Source of this package, and no more than is used, as one file that stands by itself."""
