"""Commands about rated texts, training data and answers on record."""
