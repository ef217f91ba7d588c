"""How well scores agree with people, and with what else."""
