"""What people are asked next: ratings, verdicts on explanations and on marked errors."""
