"""The page to try a judge, as somebody uses it who has keys, or a phone, or no eyes."""

import json
import random
import shlex

import pytest
from devtools import chromium
from loopback import serving
from serving_page import EXAMPLES, judge_folder, served

from judgesmith.experiments.evaluate.errors.found import numbered_errors, text_pieces
from judgesmith.signatures.judgement import ErrorSpan

__all__ = ["chromium"]

pytestmark = [pytest.mark.chromium, pytest.mark.no_cover]

SOURCE = "The bridge in Leeds opened in May 1998."
RESPONSE = "😀 The the bridge in Paris opened in May. <b>Ann</b> left."
HARM = "<img src=x onerror=\"document.title='harm'\"></p><script>document.title='harm'</script>"
ANSWER = f"""Errors:
1. Location: "The the bridge"
   Explanation: A word stands twice. {HARM}
   Severity: 2
2. Location: "bridge in Paris"
   Explanation: It is in Leeds.
   Severity: 4
3. Location: omission
   Explanation: The year is missing.
   Severity: 3
4. Location: "tram"
   Explanation: There is no tram.
   Severity: 5

Score explanation: A wrong place.
Overall score: Fair
"""
SPANS = """
Array.from(document.querySelectorAll("article .text mark"), (one) => {
  const range = document.createRange();
  const text = one.closest(".text");
  range.setStart(text, 0);
  range.setEndBefore(one);
  const before = range.cloneContents();
  before.querySelectorAll(".n").forEach((number) => number.remove());
  const start = Array.from(before.textContent).length;
  return [one.className, start, start + Array.from(one.textContent).length];
})
"""
TOKEN = "sesame-0123456789"
CUT = """
import("./page/marking.js").then(({ numbered, pieces }) => %s.map((errors) =>
  pieces(Array.from(%s), numbered(errors)).map((one) =>
    [one.text, ...[one.closes, one.opens, one.over].map((some) => some.map((each) => each.number))]
  )))
"""
READY = "!document.getElementById('judging').hidden"
JUDGED = "document.querySelector('article')"
ANSWERED = (
    "window.fetch = async () => new Response({body}, {{status: {status}, headers: {headers}}})"
)


@pytest.fixture(scope="module")
def model():
    """A model server."""
    with serving(answer=ANSWER) as running:
        yield running


def asking(model):
    """Return the options of a server that asks a loopback model."""
    return ("--model", "openai/loopback", "--api-base", model.url, "--ledger", "none")


@pytest.fixture(scope="module")
def address(model, tmp_path_factory):
    """Where judges are served: one that marks errors, one never tested, and one that compares."""
    folder = tmp_path_factory.mktemp("judges")
    judges = {
        "spans": judge_folder(folder / "spans"),
        "untested": judge_folder(folder / "untested", agreement={}),
        "ranks": judge_folder(folder / "ranks", family="pairs"),
    }
    with served(judges, folder, *asking(model), OPENAI_API_KEY="sk-test") as found:
        yield found


@pytest.fixture(scope="module")
def window(chromium, address):
    """A window with the page."""
    return chromium.opened(address)


@pytest.fixture
def page(window, address, model):
    """The page, just opened; it is without fault when the test is over."""
    model.reset()
    window.screen(1200)
    window.go(address)
    window.wait(READY)
    yield window
    assert window.faults == []
    assert [one for one in window.asked if not one.startswith((address, "data:"))] == []


def judged(page, response=RESPONSE, source=SOURCE):
    """Have a text judged, and wait for what comes."""
    before = page.do("document.querySelectorAll('article').length")
    page.do("document.getElementById('source').select()")
    page.tab_to("#source")
    page.write(source)
    page.tab_to("#response")
    page.do("document.activeElement.select()")
    page.write(response)
    page.press("Enter", "Control")
    page.wait(f"{JUDGED} || {before}")
    page.wait("document.getElementById('stop').hidden")


def told(page, words):
    """Wait until the page says so where a screen reader hears it."""
    page.wait(f"document.getElementById('told').textContent.includes({json.dumps(words)})")


def answer(page, status, headers=None, body=None):
    """Have a text judged by a server that answers like that."""
    given = {"status": status, "headers": json.dumps(headers or {})}
    page.do(ANSWERED.format(body=json.dumps(json.dumps(body or {})), **given))
    page.do("document.getElementById('response').value = 'r'")
    page.do("document.getElementById('go').click()")


def refused(page, *answered, **given):
    """Return what the page says when the server answers like that."""
    answer(page, *answered, **given)
    page.wait("!document.getElementById('fault').hidden")
    assert page.do("document.querySelector('article')") is None
    return page.text("#fault")


def test_keys_alone_lead_from_an_empty_page_to_the_score_and_its_errors(page):
    page.press("Tab")
    assert page.text(":focus") == "Skip to the texts"
    page.press("Enter")
    page.press("Tab")
    assert page.do("document.activeElement.id") == "source"
    page.write(SOURCE)
    page.press("Tab")
    page.write(RESPONSE)
    page.press("Enter", "Control")
    page.wait(JUDGED)
    assert page.do("document.activeElement.id") == "j1"
    told(page, "Score 3 on a scale from 1 (worst) to 5 (best), 4 errors.")
    page.tab_to("a.n")
    page.press("Enter")
    page.wait("document.activeElement.id === 'j1e1'")
    page.press("Tab")
    page.press("Enter")
    page.wait("document.activeElement.id === 'j1m1'")


def test_it_says_how_far_to_trust_a_judge(page):
    trust = "document.getElementById('trust')"
    page.wait(f"{trust}.querySelector('.verdict')")
    card = page.text("#trust")
    assert "r = 0.50 [-0.10, 0.80] with human ratings on 40 test rows." in card
    assert "Do not use it: its agreement with human ratings may be zero." in card
    page.tab_to("#trust summary")
    page.press("Enter")
    page.wait(f"{trust}.querySelector('svg').checkVisibility()")
    assert page.violations() == []
    page.tab_to("#judge", "Shift")
    page.press("ArrowDown")
    page.wait(f"{trust}.textContent.includes('It was never tested')")


def test_the_example_is_of_the_judges_own_task(page):
    page.do("document.getElementById('example').click()")
    given = "['source', 'context', 'response'].map((id) => document.getElementById(id).value)"
    assert page.do(given) == [EXAMPLES[0].source, EXAMPLES[0].context, EXAMPLES[0].response]
    page.tab_to("#judge", "Shift")
    page.press("End")
    page.wait("document.getElementById('judge').value === 'ranks'")
    page.do("document.getElementById('example').click()")
    others = "Array.from(document.querySelectorAll('#others textarea'), (one) => one.value)"
    assert page.do(others) == [EXAMPLES[1].response]


def test_errors_are_marked_at_their_characters_and_listed_in_words(page):
    judged(page)
    assert page.do(SPANS) == [["minor", 2, 10], ["major", 10, 16], ["major", 16, 25]]
    assert page.text(".text") == RESPONSE.replace(
        "The the bridge in Paris", "[1The the [2bridge1] in Paris2]"
    )
    entries = page.do(
        "Array.from(document.querySelectorAll('.errors > li'), (one) => one.innerText)"
    )
    assert [one.split("\n")[0] for one in entries] == [
        "1minor, 2 of 5fluency · faithfulness · characters 2 to 16",
        "2major, 4 of 5fluency · faithfulness · characters 10 to 25",
        "3moderate, 3 of 5fluency · faithfulness · missing from the text",
        "4critical, 5 of 5fluency · faithfulness · quoted, but not in the text",
    ]
    assert "Quoted: tram" in entries[3]
    assert page.do(
        "Array.from(document.querySelectorAll('article tbody th'), (one) => one.innerText)"
    ) == [
        "fluency",
        "faithfulness",
    ]


def test_texts_are_cut_where_reports_cut_them(page):
    rng = random.Random(3)
    text = "ab😀c\u0301d \u202ee評f"
    several = []
    for _ in range(40):
        spans = [sorted(rng.choices(range(len(text) + 1), k=2)) for _ in range(rng.randrange(6))]
        several.append(
            [
                ErrorSpan(text=text[a:b], start=a, end=b, severity=n)
                for n, (a, b) in enumerate(spans)
            ]
        )
    sent = [[one.model_dump(mode="json") for one in errors] for errors in several]
    found = page.do(CUT % (json.dumps(sent), json.dumps(text)))
    assert found == [
        [
            [one.text, list(one.closes), list(one.opens), list(one.over)]
            for one in text_pieces(text, numbered_errors(errors), around=99)
        ]
        for errors in several
    ]


def test_nothing_that_a_text_or_a_model_writes_is_obeyed(page):
    judged(page, response=f"{HARM} \u202e{RESPONSE}", source=HARM)
    assert page.do("document.querySelectorAll('main img, main script').length") == 0
    assert page.do("document.title") == "Try a judge · judgesmith"
    assert HARM in page.text(".text")
    assert HARM in page.text(".errors")


def test_a_text_without_a_score_says_why(page, model):
    model.script({"answer": "I would rather not."})
    judged(page, response="Another.")
    assert page.text(".unscored").startswith("No score: ")
    assert page.do("document.querySelector('.score, .gauge')") is None
    told(page, "No score: ")


def test_a_label_stands_in_place_of_the_score(page):
    said = {"label": "not <b>ok</b>", "probability": {"ok": 0.2, "not <b>ok</b>": 0.8}}
    empty = {"criteria": {}, "errors": [], "problem": None, "explanation": "It is rude."}
    answer(page, 200, {"content-type": "application/json"}, {"score": 20, **said, **empty})
    page.wait(JUDGED)
    told(page, "Verdict not <b>ok</b>, probabilities not <b>ok</b> 80%, ok 20%")
    assert page.do(f"{JUDGED}.querySelector('.score strong').textContent") == "not <b>ok</b>"
    assert "80%" in page.do(f"{JUDGED}.querySelector('.score').textContent")


def test_an_empty_response_is_asked_for_and_not_sent(page, model):
    page.tab_to("#response")
    page.press("Enter", "Control")
    assert page.text("#response-fault") == "Write a response to be judged."
    assert (
        page.do("document.activeElement.id + document.activeElement.ariaInvalid") == "responsetrue"
    )
    assert model.counts()["requests"] == 0


def test_a_full_queue_says_when_to_try_again(page):
    said = refused(page, 429, {"Retry-After": "7"})
    assert said.startswith(
        "The server is busy: no more texts fit in its queue. Try again in 7 seconds."
    )
    assert page.do("document.getElementById('response').value") == "r"


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (503, {"where": "server"}, "The server is stopping and takes no more texts."),
        (
            413,
            {"error": "too long", "hint": "shorten it"},
            "The server refused: too long — shorten it",
        ),
        (502, {"error": "no key", "where": "model"}, "The server could not judge: no key — model"),
        (500, None, "The server answered with status 500, and without a reason."),
    ],
)
def test_every_refusal_is_told_in_words(page, status, body, words):
    assert refused(page, status, body=body).startswith(words)


def test_a_network_that_is_gone_and_waiting_that_is_stopped_lose_nothing(page, model):
    model.script({"latency": 20, "times": 1})
    page.do("document.getElementById('example').click()")
    page.press("Enter", "Control")
    page.tab_to("#stop")
    page.press("Enter")
    page.wait("document.getElementById('fault').textContent.startsWith('Stopped waiting.')")
    assert page.do("document.activeElement.id") == "go"
    page.do("window.fetch = () => Promise.reject(new TypeError('gone'))")
    page.press("Enter")
    page.wait(
        "document.getElementById('fault').textContent.startsWith('The server cannot be reached')"
    )
    assert page.do("document.getElementById('response').value") == EXAMPLES[0].response


def test_a_token_is_asked_for_and_kept_in_memory_alone(chromium, address, model, tmp_path):
    judges = {"spans": judge_folder(tmp_path / "spans")}
    keys = {"OPENAI_API_KEY": "sk-test", "PAGE_TOKEN": TOKEN}
    with served(judges, tmp_path, *asking(model), "--token-env", "PAGE_TOKEN", **keys) as place:
        page = chromium.opened(place)
        page.wait("document.activeElement.id === 'token'")
        assert page.text("#token-fault") == "This server asks for a token."
        page.write("wrong")
        page.press("Enter")
        page.wait("document.getElementById('token-fault').textContent.includes('does not know')")
        page.write(TOKEN)
        page.press("Enter")
        page.wait(READY)
        page.wait("document.activeElement.id === 'source'")
        judged(page)
        assert page.text(".score strong") == "3"
        kept = "[document.cookie, localStorage.length + sessionStorage.length, location.href]"
        assert page.do(kept) == ["", 0, place]
        assert TOKEN not in page.do("document.documentElement.outerHTML")
        assert page.faults == []


def test_judgements_stay_beside_each_other_and_can_be_had_again(page, model):
    judged(page)
    page.tab_to("#keep-1")
    page.press("Space")
    model.script({"answer": ANSWER.replace("Fair", "Good"), "times": 2})
    judged(page, response="The bridge in Leeds opened.")
    page.wait("document.querySelectorAll('article').length === 2")
    assert "1 more than judgement 1." in page.text("article:last-child")
    judged(page, response="It opened.")
    page.wait("document.getElementById('j3')")
    assert page.do("Array.from(document.querySelectorAll('article h3'), (one) => one.id)") == [
        "j1",
        "j3",
    ]
    page.tab_to("#visit button")
    page.press("Enter")
    assert page.do("document.activeElement.id") == "j2"
    page.do("document.querySelectorAll('article:first-child .actions button')[1].click()")
    assert page.do("document.getElementById('response').value") == RESPONSE


def test_a_judge_that_compares_gets_several_responses(page):
    page.tab_to("#judge")
    page.press("End")
    page.wait("document.getElementById('judge').value === 'ranks'")
    page.tab_to("#others textarea")
    page.write("Another.")
    judged(page)
    heads = "Array.from(document.querySelectorAll('article h3'), (one) => one.innerText)"
    assert page.do(heads) == ["Judgement 1 by ranks", "Judgement 2 by ranks"]
    assert page.text("article:last-child details").startswith("What was judged")
    assert "Another." in page.do("document.querySelector('article:last-child').textContent")
    assert "Paris" not in page.do("document.querySelector('article:last-child').textContent")


def test_a_judgement_can_be_taken_as_a_command_and_as_json(page, address):
    page.do("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    response = "It's \u202eup to $HOME 😀\n\u0007."
    judged(page, response=response)
    taken = {}
    for name in ("curl", "JSON"):
        buttons = "Array.from(document.querySelectorAll('button'))"
        page.do(f"{buttons}.find((one) => one.textContent === 'Copy as {name}').click()")
        page.wait(f"document.activeElement.ariaLabel?.includes({json.dumps(name)})")
        taken[name] = page.do("document.activeElement.value")
    assert taken["curl"].replace("\\\n", "").replace("\n", "").isprintable()
    words = shlex.split(taken["curl"])
    assert words[:3] == ["curl", "-sS", f"{address}v1/judges/spans/judge"]
    assert (
        json.loads(words[-1])["response"]
        == json.loads(taken["JSON"])["request"]["response"]
        == response
    )
    assert json.loads(taken["JSON"])["row"]["score"] == 50


@pytest.mark.parametrize("screen", ["wide", "phone", "dark"])
def test_every_screen_holds_the_page_and_axe_has_nothing_against_it(page, screen):
    width = 390 if screen == "phone" else 1200
    page.screen(width, dark=screen == "dark")
    assert page.violations() == []
    judged(page, response=RESPONSE + " " + "unbroken" * 100)
    page.do("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.do("document.getElementById('add').click()")
    assert page.do("document.documentElement.scrollWidth") <= width
    assert page.violations() == []
    dark = page.do("getComputedStyle(document.body).backgroundColor === 'rgb(23, 23, 27)'")
    assert dark == (screen == "dark")


def test_on_a_phone_the_score_is_in_sight_when_it_comes(page):
    page.screen(390, 700)
    judged(page)
    page.wait("document.querySelector('.ends').getBoundingClientRect().bottom < innerHeight")
    assert page.do("document.getElementById('j1').getBoundingClientRect().top") >= 0


def test_on_paper_there_are_judgements_and_no_form(page):
    judged(page)
    page.screen(1000, paper=True)
    seen = "['judging', 'j1'].map((one) => document.getElementById(one).checkVisibility())"
    assert page.do(seen) == [False, True]


def test_a_text_that_is_far_too_long_is_not_pasted(page):
    page.do("""
      const pasted = new DataTransfer();
      pasted.setData("text/plain", "x".repeat(200001));
      const about = { clipboardData: pasted, bubbles: true, cancelable: true };
      document.getElementById("response").dispatchEvent(new ClipboardEvent("paste", about));
    """)
    assert page.text("#fault") == (
        "A text of 200,001 characters was not pasted: the server takes at most 200,000."
    )


def test_it_says_who_on_a_panel_found_an_error(page):
    error = {"text": "r", "start": 0, "end": 1, "severity": None}
    row = {"score": 1, "explanation": "", "problem": None, "criteria": {}, "members": {"a": 1}}
    row |= {"errors": [error | {"criterion": "x"}, error], "support": [["a"], ["a", "b"]]}
    answer(page, 200, body=row)
    page.wait(JUDGED)
    assert page.text(".errors > li").startswith(
        "1of no stated severityx · characters 0 to 1 · found by a, b"
    )


def test_a_long_text_is_judged_and_scrolls_in_its_place(page):
    judged(page, response=f"{RESPONSE} {'Ann went on. ' * 5000}")
    assert page.text("#response-count").startswith("65,0")
    assert page.do("document.querySelector('.text').clientHeight") < 900
    assert page.do(SPANS)[0] == ["minor", 2, 10]
