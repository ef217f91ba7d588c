"""What may be chosen, and how configurations are proposed."""
