"""A simulated language model behind an OpenAI-compatible server, to measure searches on."""
