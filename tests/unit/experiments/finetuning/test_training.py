"""Data, one step of training, save, load, judge: with a tiny random Llama made on the spot."""

import http.server
import json
import threading

import pytest
from students import ANSWER, write_data

from judgesmith.cli import main
from judgesmith.experiments.distil.chats import Recipe, read_chats
from judgesmith.experiments.distil.training import trained
from judgesmith.programs import SavedJudge, score_batch
from judgesmith.programs.families.modules import AnnotatorJudge, DistilledJudge
from judgesmith.programs.lm import model
from judgesmith.signatures import RatedItem, Rubric

pytestmark = [
    pytest.mark.finetune,
    pytest.mark.no_cover,
    # Of transformers by peft, where a test loads an adapter.
    pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning"),
]

TEMPLATE = (
    "{% for m in messages %}{{ m['role'] }}\n{{ m['content'] }}<end>\n{% endfor %}"
    "{% if add_generation_prompt %}assistant\n{% endif %}"
)
RUBRIC = Rubric(
    task="Judge.", criteria={"fluency": "Is it well written?", "faithfulness": "Is it true?"}
)
ROWS = [
    {"source_id": f"{n}", "system_id": one, "source": f"Ann left Rome in {n}.", "response": text}
    for n in range(3)
    for one, text in (("a", f"Ann left Rome in {n}."), ("b", f"Bob left rome rome in {n}0."))
]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a tiny model and the data that an offline teacher made for it."""
    for name in ("torch", "transformers", "trl", "peft"):
        pytest.importorskip(name, reason="pip install 'judgesmith[finetune]'")
    place = tmp_path_factory.mktemp("student")
    (place / "data.jsonl").write_text("".join(json.dumps(one) + "\n" for one in ROWS))
    judge = AnnotatorJudge(rubric=RUBRIC)
    SavedJudge(
        protocol=judge.protocol,
        questions=judge.templates(),
        model="offline",
        target="overall",
        human_scale="1..5",
    ).save(place / "teacher")
    ledger = ["--ledger", str(place / "ledger.sqlite")]
    data = ["distil", str(place / "data.jsonl"), str(place / "teacher"), "-o", str(place / "chats")]
    assert main([*data, "--validation", "0.34", *ledger]) == 0
    _tiny_llama(place)
    return place


def _tiny_llama(place):
    tokenizers = pytest.importorskip("tokenizers")
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")

    texts = [
        turn["content"]
        for line in (place / "chats" / "train.jsonl").read_text().splitlines()
        for turn in json.loads(line)["messages"]
    ]
    own = tokenizers.Tokenizer(tokenizers.models.BPE())
    own.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    own.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=700,
        special_tokens=["<pad>", "<end>"],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    own.train_from_iterator(texts, trainer)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=own, eos_token="<end>", pad_token="<pad>"
    )
    tokenizer.chat_template = TEMPLATE
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=2048,
        bos_token_id=1,
        eos_token_id=1,
        pad_token_id=0,
        initializer_range=0.3,  # so that what is frozen tells tokens apart
    )
    transformers.LlamaForCausalLM(config).save_pretrained(place / "tiny")
    tokenizer.save_pretrained(place / "tiny")


def loaded(place, adapter):
    """Return a saved adapter on its base, and its tokenizer."""
    peft = pytest.importorskip("peft")
    transformers = pytest.importorskip("transformers")

    base = transformers.AutoModelForCausalLM.from_pretrained(place / "tiny")
    tokenizer = transformers.AutoTokenizer.from_pretrained(adapter)
    return peft.PeftModel.from_pretrained(base, adapter).eval(), tokenizer


class _Endpoint(http.server.BaseHTTPRequestHandler):
    """Answers chats by a model, as servers of such models do."""

    def do_POST(self):
        torch = pytest.importorskip("torch")

        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        student, tokenizer = self.server.student
        ids = tokenizer.apply_chat_template(
            asked["messages"], add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        with torch.no_grad():
            found = student.generate(**ids, max_new_tokens=60, do_sample=False)
        new = found[0][ids["input_ids"].shape[1] :]
        said = {"role": "assistant", "content": tokenizer.decode(new, skip_special_tokens=True)}
        self.server.answers.append(said["content"])
        choice = {"index": 0, "message": said, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        reply = {"id": "1", "object": "chat.completion", "created": 0, "model": "student"}
        body = json.dumps({**reply, "choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        """Say nothing."""


@pytest.fixture
def serve():
    """Serve a model at an address of this machine."""
    servers = []

    def serving(student):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Endpoint)
        server.student, server.answers = student, []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return server, f"http://127.0.0.1:{server.server_address[1]}/v1"

    yield serving
    for server in servers:
        server.shutdown()
        server.server_close()


def test_from_data_over_a_step_of_training_to_a_judgement(place, serve, monkeypatch, capsys):
    torch = pytest.importorskip("torch")

    monkeypatch.chdir(place)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    capsys.readouterr()
    command = ["finetune", "chats", "--base", "tiny", "-o", "adapter", "--json"]
    assert main([*command, "--steps", "1", "--warmup", "0", "--batch", "2"]) == 0
    done = json.loads(capsys.readouterr().out)
    assert (done["steps"], done["device"]) == (1, "cpu")
    assert (done["n_train"], done["n_validation"], done["n_too_long"]) == (8, 4, 0)
    assert 0 < done["validation_loss"] < 20
    files = {one.name for one in (place / "adapter").iterdir()}
    assert {"adapter_model.safetensors", "adapter_config.json", "finetune.json"} <= files
    assert not [name for name in files if name.endswith((".bin", ".pt", ".pkl"))]
    student = loaded(place, "adapter")
    moved = [one for name, one in student[0].named_parameters() if "lora_B" in name]
    assert any(torch.count_nonzero(one) for one in moved)
    server, address = serve(student)
    judge = DistilledJudge(rubric=Rubric.load("chats/rubric.yaml"))
    lm = model("openai/student", api_base=address, ledger=None)
    item = RatedItem(source="Ann left Rome in 1.", response="Bob left Rome in 1.")
    (found,) = score_batch(judge, [item], lm=lm)
    # What a model says after one step is nothing that could be read, and is not taken for a score.
    assert server.answers
    assert found.score is None
    assert "overall score" in found.problem


def test_a_student_that_has_learned_is_read(place, serve, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    judge = DistilledJudge(rubric=Rubric(), asks="overall")
    template = judge.templates()["whole"]
    item = RatedItem(source="Ann left.", response="Ann left.")
    asked = template.render({"source": item.source, "context": None, "response": item.response})
    system = template.turns[0].text
    data = write_data(tmp_path / "data", [asked] * 4, system=system)
    recipe = Recipe(rank=32, alpha=64, learning_rate=0.01, steps=60, batch=1, weight_decay=0)
    folder = tmp_path / "adapter"
    folder.mkdir()
    told = []
    done = trained(
        read_chats([data]),
        str(place / "tiny"),
        recipe,
        folder,
        on_progress=lambda event: told.append((event.stage, event.n, event.total)),
    )
    assert done.loss < 3
    assert told == [("steps", 1, 60)] * 60
    server, address = serve(loaded(place, folder))
    lm = model("openai/student", api_base=address, ledger=None)
    (found,) = score_batch(judge, [item], lm=lm)
    assert server.answers == [ANSWER]
    assert (found.score, found.errors, found.problem) == (100, (), None)


def test_the_same_run_writes_the_same_bytes_and_long_examples_are_left_out(place, tmp_path):
    transformers = pytest.importorskip("transformers")

    chats = read_chats([place / "chats"])
    tokenizer = transformers.AutoTokenizer.from_pretrained(place / "tiny")
    texts = [tokenizer.apply_chat_template(one, tokenize=False) for one in chats.train]
    longest = sorted(len(tokenizer(one)["input_ids"]) for one in texts)[4]
    folders = [tmp_path / name for name in ("a", "b")]
    found = []
    for folder in folders:
        folder.mkdir()
        recipe = Recipe(rank=2, steps=2, batch=2, warmup=0, longest=longest)
        found.append(trained(chats, str(place / "tiny"), recipe, folder))
    assert found[0] == found[1]
    assert 0 < found[0].n_too_long < 12
    assert {one.name: one.read_bytes() for one in folders[0].iterdir()} == {
        one.name: one.read_bytes() for one in folders[1].iterdir()
    }


def test_what_cannot_be_trained_is_refused(place, tmp_path):
    chats = read_chats([place / "chats"])
    with pytest.raises(ValueError, match="all 8 examples are longer than 3 tokens"):
        trained(chats, str(place / "tiny"), Recipe(longest=3), tmp_path)
    with pytest.raises(ValueError, match="no model can be read"):
        trained(chats, str(tmp_path), Recipe(), tmp_path)
