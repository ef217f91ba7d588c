from hypothesis import given
from hypothesis import strategies as st

from judgesmith.programs.perturbing import PERTURBATIONS, perturb
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import Perturbed


def padded(text):
    return perturb(RatedItem(response=text), PERTURBATIONS["padding"], seed=0)


def test_padding_sets_every_sentence_on_a_line_of_its_own():
    assert padded("One is here. Two is there.").text == "\nOne is here.\nTwo is there.\n"
    assert padded("你好。再见。").text == "\n你好。\n再见。\n"
    assert padded("One.\n\nTwo.").text == "\nOne.\n\nTwo.\n"


@given(st.text(alphabet="ab.。! \n你\u0301", max_size=40))
def test_padding_changes_nothing_but_blanks(text):
    found = padded(text)
    if isinstance(found, Perturbed):
        assert "".join(found.text.split()) == "".join(text.split())
