"""What a judge favours besides quality: a place, length, its family, some points, groups."""
