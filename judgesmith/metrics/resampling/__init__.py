"""How far an agreement can be trusted: what might have been drawn instead."""
