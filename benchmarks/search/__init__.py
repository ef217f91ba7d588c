"""What compiling, searching and choosing rows are worth."""
