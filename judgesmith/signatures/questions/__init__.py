"""Everything that a model is asked, one file a family."""
