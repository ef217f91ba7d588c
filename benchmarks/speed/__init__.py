"""What things take: seconds, calls and memory."""
