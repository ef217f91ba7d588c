"""Models that were trained to judge, each with a form of its own: what it is sent and answers."""

from judgesmith.programs.families.forms.annotators import ANNOTATORS, DISTILLED
from judgesmith.programs.families.forms.published import ABSOLUTE, RELATIVE, SINGLE, THEMIS
from judgesmith.programs.judging.prompts import ModelForm, form_named, known_forms, register_form

__all__ = [
    "ABSOLUTE",
    "ANNOTATORS",
    "DISTILLED",
    "RELATIVE",
    "SINGLE",
    "THEMIS",
    "ModelForm",
    "form_named",
    "known_forms",
    "register_form",
]
