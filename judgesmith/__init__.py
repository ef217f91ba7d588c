"""Judgesmith compiles LLM judges that agree with people."""
