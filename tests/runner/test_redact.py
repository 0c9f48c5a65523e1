"""No secret survives, and ordinary text does."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.redact import HIDDEN, is_secret, redacted, redacted_tree, secret_values

SECRET = "hunter22xyzzy"

PLACES = [
    "vllm serve m --api-key {} --max-num-seqs 8",
    "vllm serve m --api-key={} --max-num-seqs 8",
    'serve --api-key "{} and more" --x',
    "serve --api-keys {0} {0}b --port 1",
    "serve --hf-token {}",
    "serve --ssl-keyfile-password {}",
    "['--admin-api-key', '{}', '--tp', '2']",
    '["--api-key", "{}"]',
    "OPENAI_API_KEY={} python x",
    "HF_TOKEN={}",
    "MYSECRET={}",
    "DB_PASSWORD: {}",
    "password: {}",
    "ServerArgs(api_key='{}', admin_api_key=None)",
    '{{"api_key": "{}"}}',
    '{{\\"admin_api_key\\":\\"{}\\"}}',
    '{{"openaiApiKey":"{}"}}',
    '{{"headers": {{"Authorization": "Bearer {}"}}}}',
    "Authorization: Basic {}==",
    "< authorization: {}",
    "X-Api-Key: {}",
    "Set-Cookie: session={}; Path=/",
    "Incorrect key. You sent Bearer {}.",
    "http://user:{}@127.0.0.1:8000/v1",
    "s3://{}@bucket/model",
    "https://h/x?api_key={}&n=1",
    "https://h/x?n=1&X-Amz-Signature={}",
    "https://h/x?token={}#part",
    "https://h/x?sig={}",
    "secret = '{}'",
    "args: Namespace(api_key='{}')",
    "config=(host=1,token={},port=2)",
    "env: a=b: PASSWORD={}",
    "client_secret: {}",
    "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\n{}",
]


@pytest.mark.parametrize("place", PLACES)
def test_a_secret_is_taken_out_of_every_place(place: str) -> None:
    text = place.format(SECRET)
    assert SECRET in text
    clean = redacted(text)
    assert SECRET not in clean
    assert HIDDEN in clean
    assert redacted(clean) == clean


@pytest.mark.parametrize(
    "key",
    [
        "sk-proj-abcdefgh12345678",
        "hf_abcdefghijklmnopqrst",
        "nvapi-abcdefghijklmnop1234",
        "ghp_" + "a1" * 18,
        "AKIAABCDEFGHIJKLMNOP",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
        "gsk_" + "a1" * 15,
    ],
)
def test_well_known_shapes_are_secrets_anywhere(key: str) -> None:
    assert redacted(f"it said {key} was wrong") == f"it said {HIDDEN} was wrong"


@pytest.mark.parametrize(
    "text",
    [
        "max_num_batched_tokens: 8192, num_speculative_tokens=4",
        '{"bos_token": "<s>", "eos_token": "</s>", "prompt_tokens": 12}',
        "--max-tokens 5 --tokenizer-mode auto --num-tokens 4",
        'vllm:prompt_tokens_total{model_name="m"} 12',
        '{"token": "The", "logprob": -0.5}',
        '{"key": "qwen/qwen3-4b", "cache_key": "abc"}',
        "TOKENIZERS_PARALLELISM=false VLLM_MAX_TOKENS=5",
        "api_key=None, admin_api_key: null",
        '{"api_key_env": "OPENAI_API_KEY"}',
        "http://127.0.0.1:8000/v1?autoload=false&model=a",
        "mail me@example.org about the key idea",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert redacted(text) == text


def test_known_values_go_wherever_they_stand() -> None:
    assert redacted(f"a{SECRET}b", [SECRET]) == f"a{HIDDEN}b"
    assert redacted_tree({"x": [f"a {SECRET}"], SECRET: 1}, [SECRET]) == {"x": [f"a {HIDDEN}"], HIDDEN: 1}


def test_a_tree_keeps_its_shape() -> None:
    tree = {
        "api_key": SECRET,
        "api_keys": [SECRET],
        "token": SECRET,
        "password": 123456,
        "admin_api_key": None,
        "num_key_value_heads": 8,
        "max_tokens": 5,
        "has_secret": True,
        "launch": ["serve", "--api-key", SECRET, "--port", "1", "--api-keys", SECRET, SECRET, "-v", "x"],
        "pair": ("--token", SECRET),
        "empty_secret": "",
        3: [1.5, None],
    }
    assert redacted_tree(tree) == {
        "api_key": HIDDEN,
        "api_keys": HIDDEN,
        "token": HIDDEN,
        "password": HIDDEN,
        "admin_api_key": None,
        "num_key_value_heads": 8,
        "max_tokens": 5,
        "has_secret": True,
        "launch": ["serve", "--api-key", HIDDEN, "--port", "1", "--api-keys", HIDDEN, HIDDEN, "-v", "x"],
        "pair": ("--token", HIDDEN),
        "empty_secret": "",
        3: [1.5, None],
    }


def test_a_bottomless_tree_ends() -> None:
    value: object = SECRET
    for _ in range(5000):
        value = [value]
    assert SECRET not in json.dumps(redacted_tree(value))


def test_values_of_secret_variables() -> None:
    environ = {"HF_TOKEN": SECRET, "PATH": "/bin/something", "MINE": "  abcdef1 ", "X_KEY": "true", "K_KEY": "short"}
    assert secret_values(["MINE", "ABSENT"], environ) == {SECRET, "abcdef1"}


@pytest.mark.parametrize(
    "unit",
    ["a", "a.", "--a ", "'", '="\\a', "://", "-", "a: ", " ", "--keys a ", "a,", "[", "?a=", "eyJaaaaaaaa.", "A_KEY="],
)
def test_hostile_text_takes_linear_time(unit: str) -> None:
    started = time.process_time()
    redacted(unit * (100_000 // len(unit)))
    assert time.process_time() - started < 2.0


@settings(max_examples=40, deadline=None)
@given(st.text())
def test_any_text_is_redacted_once_and_for_all(text: str) -> None:
    assert redacted(redacted(text)) == redacted(text)


@pytest.mark.long
@settings(max_examples=40, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_any_tree_is_taken(tree: object) -> None:
    redacted_tree(tree)


@settings(max_examples=40, deadline=None)
@given(st.from_regex(r"[A-Z]{1,6}_(KEY|TOKEN|SECRET|PASSWORD)", fullmatch=True))
def test_variables_with_such_names_are_secrets(name: str) -> None:
    assert is_secret(name)
    assert SECRET not in redacted(f"{name}={SECRET}")
