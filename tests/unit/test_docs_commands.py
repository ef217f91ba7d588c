"""Every command on a page is one that there is: what no session runs, the command line parses."""

import re
import shlex
from types import SimpleNamespace

import click
import pytest
from looping import for_each
from sessions import EVERY_PAGE, ROOT

from benchmarks.__main__ import known as benchmarks
from judgesmith.cli.main import COMMANDS
from judgesmith.cli.main import judgesmith as cli
from judgesmith.pytest_plugin import pytest_addoption

pytestmark = pytest.mark.no_cover

BLOCK = re.compile(r"^ *```.*?\n(.*?)^ *```", flags=re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"(?<!`)`([^`]+)`(?!`)")
# A prompt, a step of a workflow, or variables may stand before a command; jobs and pipes after it.
LINE = re.compile(
    r"^ *(?:\$ |- run: )?(?:\w+=\S+ )*(judgesmith [a-z].*?)(?: +[|>&#].*| &)?$", re.MULTILINE
)
SCRIPT = re.compile(r"python3? ((?:examples|docs)/[\w/]+\.py)([^`\n|>&#]*)")
BENCHMARK = re.compile(r"python -m\s+benchmarks\s+run\s+((?:(?!\n\n)[^`|>&#;:,])*)")
# Of vLLM, of pre-commit, and of Inspect.
OF_OTHERS = ("--enable-lora", "--lora-modules", "--hook-stage", "--output-dir")
# Options that are neither of a command: of scripts, of pytest with our plugin, of exported files.
ELSEWHERE = (
    "judgesmith/pytest_*.py",
    "judgesmith/programs/exporting/**/*.py",
)
PLACEHOLDER = re.compile(r"[^a-z]*[A-Z][^a-z]*|.*(…|\.\.\.).*")


def block_commands(text):
    """Return the commands in blocks of code, each on one line."""
    return [
        line for block in BLOCK.findall(text) for line in LINE.findall(re.sub(r"\\\n", "", block))
    ]


def span_commands(text):
    """Return the commands between backticks in prose, also those that leave ``judgesmith`` out."""
    prose = BLOCK.sub("", text)
    spans = [" ".join(span.split()) for span in SPAN.findall(prose)]
    whole = [span for span in spans if re.match(r"judgesmith [a-z]", span)]
    short = [span for span in spans if re.match(rf"({'|'.join(COMMANDS)}) (-|[A-Z]+\b)", span)]
    return [*whole, *(f"judgesmith {span}" for span in short)]


def command_of(words):
    """Return the click command that words begin with, and the words after its name."""
    found, rest = cli, list(words)
    while isinstance(found, click.Group) and rest:
        _, found, rest = found.resolve_command(click.Context(found), rest)
    return found, rest


def with_values(words, command):
    """Return words with a value for each option that is named without one, as prose does."""
    needing = {
        option
        for param in command.params
        if isinstance(param, click.Option) and not (param.is_flag or param.count)
        for option in param.opts
    }
    found = []
    for word, after in zip(words, [*words, "--"][1:], strict=True):
        found += [word, "VALUE"] if word in needing and after.startswith("--") else [word]
    return found


def refusal(line, *, whole):
    """Return what the command line says against a line, or None.

    ``whole`` asks for everything that is required, too: prose may leave it out.
    """
    try:
        command, rest = command_of(shlex.split(line)[1:])
        if isinstance(command, click.Group):
            return None if not whole else "a command is missing"
        rest = rest if whole else with_values(rest, command)
        context = click.Context(command, help_option_names=["-h", "--help"])
        given, extra, _ = command.make_parser(context).parse_args(rest)
    except click.UsageError as fault:
        return fault.format_message()
    if extra:
        return f"unexpected {extra}"
    for one in command.params:
        value = given.get(one.name)
        if whole and one.required and value in (None, ()):
            return f"{one.name} is missing"
        values = value if isinstance(value, list | tuple) else [value]
        shown = [each for each in values if isinstance(each, str)]
        if isinstance(one.type, click.Choice):
            shown = [part for each in shown for part in each.split("|")]
        for each in shown:
            if isinstance(one, click.Option):
                try:
                    _ = PLACEHOLDER.fullmatch(each) or one.type.convert(each, one, context)
                except click.UsageError as fault:
                    return fault.format_message()
    return None


def refusals(page):
    text = page.read_text(encoding="utf-8")
    lines = [(line, True) for line in block_commands(text)]
    lines += [(line, False) for line in span_commands(text)]
    return [(line, said) for line, whole in lines if (said := refusal(line, whole=whole))]


@for_each("page", [pytest.param(page, id=str(page.relative_to(ROOT))) for page in EVERY_PAGE])
def test_every_command_on_a_page_is_one_that_the_command_line_takes(page):
    assert refusals(page) == []


def plugin_options():
    """Return the options that our plugin gives pytest."""
    options = []
    parser = SimpleNamespace(addini=lambda *said, **more: None)
    parser.addoption = lambda option, **more: options.append(option)
    parser.getgroup = lambda *said: parser
    pytest_addoption(parser)
    return options


def test_every_option_that_is_named_alone_is_one_of_some_command_or_script():
    known = {"--help", "--quick", *OF_OTHERS, *plugin_options()}
    known |= {
        option
        for one in benchmarks().values()
        for action in one.parser()._actions
        for option in action.option_strings
    }
    known |= {option for param in cli.params for option in param.opts}
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        below = command.commands.values() if isinstance(command, click.Group) else [command]
        known |= {option for one in below for param in one.params for option in param.opts}
        known |= {
            option for one in below for param in one.params for option in param.secondary_opts
        }
    elsewhere = "".join(
        path.read_text(encoding="utf-8") for glob in ELSEWHERE for path in ROOT.glob(glob)
    )
    unknown = [
        (page.name, option)
        for page in EVERY_PAGE
        for span in SPAN.findall(BLOCK.sub("", page.read_text(encoding="utf-8")))
        for option in re.findall(r"(?:^|(?<=[ \[]))--[a-z][\w-]*", span)
        if option not in known and f'"{option}"' not in elsewhere
    ]
    assert unknown == []


def test_every_script_on_a_page_is_there_and_knows_its_options():
    wrong = []
    for page in EVERY_PAGE:
        for script, rest in SCRIPT.findall(page.read_text(encoding="utf-8")):
            text = (ROOT / script).read_text(encoding="utf-8") if (ROOT / script).is_file() else ""
            options = re.findall(r"(?<= )--[a-z][\w-]*", rest)
            wrong += [(page.name, script)] * (not text)
            wrong += [(page.name, script, one) for one in options if f'"{one}"' not in text]
    assert wrong == []


def test_every_benchmark_on_a_page_is_there_and_takes_its_settings(capsys):
    every = benchmarks()
    folders = {one.folder for one in every.values()}
    wrong = []
    for page in EVERY_PAGE:
        for said in BENCHMARK.findall(page.read_text(encoding="utf-8")):
            words, _, own = said.partition(" -- ")
            names = [word for word in words.split() if word != "--quick"]
            wrong += [(page.name, name) for name in names if name not in {*every, *folders, "NAME"}]
            try:
                own = ["1" if PLACEHOLDER.fullmatch(word) else word for word in shlex.split(own)]
                if own and names[0] in every:
                    every[names[0]].parser().parse_args(own)
            except SystemExit:
                wrong.append((page.name, said, capsys.readouterr().err))
    assert wrong == []


@for_each(
    ("line", "said"),
    [
        ("judgesmith compil sample", "No such command 'compil'"),
        ("judgesmith score judge in.jsonl -o out.jsonl --colour", "No such option"),
        ("judgesmith score judge in.jsonl", "output is missing"),
        ("judgesmith evaluate judge in.jsonl more.jsonl", "unexpected ['more.jsonl']"),
        ("judgesmith compile sample -o judge --optimizer magic", "'magic' is not one of"),
        ("judgesmith compile sample -o judge --rounds many", "many"),
        ("judgesmith sheet", "a command is missing"),
    ],
)
def test_a_command_that_there_is_not_is_noticed(line, said):
    assert said in (refusal(line, whole=True) or "")


def test_commands_are_found_in_blocks_and_in_prose():
    text = "Run `judgesmith show\nJUDGE`, or `score JUDGE IN -o OUT`; `score` too.\n\n```sh\n"
    text += "A=1 judgesmith check a.csv \\\n--scale 1..5  # first\njudgesmith show j > k &\n```\n"
    assert block_commands(text) == ["judgesmith check a.csv --scale 1..5", "judgesmith show j"]
    assert span_commands(text) == ["judgesmith show JUDGE", "judgesmith score JUDGE IN -o OUT"]
