"""What scoring takes before anything is asked: for the rows that are there, and for far more."""
