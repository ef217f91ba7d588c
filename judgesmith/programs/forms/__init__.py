"""Models that were trained to judge, each with a form of its own: what it is sent and answers."""

from judgesmith.programs.forms.annotator import ANNOTATORS
from judgesmith.programs.forms.auto_j import SINGLE
from judgesmith.programs.forms.distilled import DISTILLED
from judgesmith.programs.forms.model_form import (
    ModelForm,
    form_named,
    known_forms,
    register_form,
)
from judgesmith.programs.forms.prometheus import ABSOLUTE, RELATIVE
from judgesmith.programs.forms.themis import THEMIS

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
