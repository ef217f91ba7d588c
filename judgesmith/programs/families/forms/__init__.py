"""Prompt formats of trained judge models and of annotators."""

from judgesmith.programs.families.forms.annotators import ANNOTATORS, DISTILLED
from judgesmith.programs.families.forms.published import ABSOLUTE, SINGLE, THEMIS
from judgesmith.programs.judging.prompts import (
    PromptFormat,
    known_prompt_formats,
    prompt_format_named,
    register_prompt_format,
)

__all__ = ["ABSOLUTE", "ANNOTATORS", "DISTILLED", "SINGLE", "THEMIS", "PromptFormat"]
__all__ += ["known_prompt_formats", "prompt_format_named", "register_prompt_format"]
