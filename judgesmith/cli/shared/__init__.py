"""What commands share: options, models, places, messages, tables."""
