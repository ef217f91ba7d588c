"""The pictures that the guides show."""
