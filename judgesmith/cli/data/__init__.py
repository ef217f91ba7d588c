"""Commands about rated data, training data and cached responses."""
