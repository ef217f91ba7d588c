"""How candidates are compared: races, screens, confirmation, fronts, shared work."""
