import pytest

from itembank.errors import UserError
from runner.config import Sampling, ServingConfig, load_config, serving

WHOLE = """
[bank]
source = "builtin"
[[serving]]
name = "incumbent"
base_url = "http://127.0.0.1:8000/v1"
api_key_env = "MY_KEY"
gpus = 2
[serving.sampling]
temperature = 0.5
[serving.extra_body]
chat_template_kwargs = {enable_thinking = false}
[serving.intended]
max_concurrent_sequences = 8
[[serving]]
name = "candidate"
[serving.launch]
command = ["llama-server", "--port", "{port}"]
"""


def written(tmp_path, text):
    path = tmp_path / "triplicate.toml"
    path.write_text(text)
    return path


def test_the_whole_file_is_read(tmp_path, monkeypatch):
    config = load_config(written(tmp_path, WHOLE))
    incumbent = serving(config, "incumbent")
    assert incumbent.sampling == Sampling(temperature=0.5)
    assert incumbent.extra_body == {"chat_template_kwargs": {"enable_thinking": False}}
    assert incumbent.intended == {"max_concurrent_sequences": 8}
    assert serving(config, "candidate").launch.command[0] == "llama-server"
    with pytest.raises(UserError, match="MY_KEY is not set"):
        _ = incumbent.api_key
    monkeypatch.setenv("MY_KEY", "sk-1")
    assert incumbent.api_key == "sk-1"
    assert serving(config, "candidate").api_key is None


def test_no_file_is_an_empty_configuration(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert load_config(None).serving == ()


def test_a_base_url_is_a_serving_of_its_own():
    assert serving(load_config(None), "http://h:8000/v1/") == ServingConfig(name="h-8000", base_url="http://h:8000/v1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[serving]]\nnme = 'x'", "unknown key 'nme'; did you mean 'name'"),
        ("[[serving]]\nname = 'x'", "base_url: '' is no http address"),
        ("[[serving]]\nname = 'x'\nbase_url = 'ftp://h'", "is no http address"),
        ("[[serving]]\nname = 'x'\nbase_url = 'http://h:99999/v1'", "is no http address"),
        ("[[serving]]\nname = 'x'\nbase_url = 'http://h/v1?key=1'", "is no http address"),
        ("[[serving]]\nname = 'x'\nbase_url = 'http://h'\ngpus = 'two'", "gpus"),
        ("[[serving]]\nname = 'x'\nbase_url = 'http://h'\n[serving.sampling]\ntemprature = 1", "temperature"),
        ("[[serving]]\nname='x'\nbase_url='http://h'\n[[serving]]\nname='x'\nbase_url='http://g'", "two servings"),
        ("[[serving]]\nname = 'x'\nbase_url = 'http://h'\n[serving.sampling]\ntemperature = -1", "temperature"),
        ("[[serving]]\nname = 'x'\nbase_url = 'http://h'\n[serving.sampling]\nmax_tokens = 0", "max_tokens"),
        ("[[serving]]\nname = 'x'\nbase_url = 'http://h'\n[serving.sampling]\ntop_p = 1.5", "top_p"),
        ("[[serving]]\nname = 'x'\nbase_url = 'http://h'\ngpus = 0", "gpus"),
        ("[[serving]]\nname = 'x'\n[serving.launch]\ncommand = ['x']", "write {port} in its launch command"),
        ("[[serving]]\nname = 'x'\n[serving.launch]\ncommand = []", "command"),
        ("[servings]", "unknown key 'servings'"),
        ("[bank]\nsorce = 'x'", "did you mean 'source'"),
        ("serving = 3", "serving"),
        ("serving = [3]", "serving"),
        ("x = ", "not readable"),
    ],
)
def test_faults_are_named(tmp_path, text, message):
    with pytest.raises(UserError, match=message):
        load_config(written(tmp_path, text))


def test_unknown_names_get_the_nearest(tmp_path):
    config = load_config(written(tmp_path, WHOLE))
    with pytest.raises(UserError, match="did you mean 'incumbent'"):
        serving(config, "incumbant")
    with pytest.raises(UserError, match="no configuration at"):
        load_config(tmp_path / "absent.toml")
