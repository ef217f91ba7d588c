"""Prompt formats of trained judge models and of annotators."""

from judgesmith.programs.families.forms.annotators import ANNOTATORS, DISTILLED
from judgesmith.programs.families.forms.published import (
    FormatFile,
    format_at,
    prompt_format_named,
    shipped_format,
)
from judgesmith.programs.judging.prompts import (
    PromptFormat,
    known_prompt_formats,
    register_prompt_format,
)

__all__ = ["ANNOTATORS", "DISTILLED", "FormatFile", "PromptFormat", "format_at"]
__all__ += ["known_prompt_formats", "prompt_format_named", "register_prompt_format"]
__all__ += ["shipped_format"]
