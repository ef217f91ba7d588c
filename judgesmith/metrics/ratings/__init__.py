"""Ratings on levels and who gives them: agreement beyond chance, reliability, ceilings."""
