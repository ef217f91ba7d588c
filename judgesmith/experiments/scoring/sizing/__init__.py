"""What scoring takes before anything is asked: for these rows, and for far more."""
