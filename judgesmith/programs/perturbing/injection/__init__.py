"""Single errors put into texts, by rule or by a model."""
