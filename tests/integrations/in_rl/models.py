"""A tokenizer of single bytes: programs go through it unharmed."""

import sys

from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast


def tokenizer() -> PreTrainedTokenizerFast:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: number for number, letter in enumerate([*letters, "<pad>", "<eos>"])}
    made = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=made, pad_token="<pad>", eos_token="<eos>")


RIGHT = "```python\nprint(2 * int(input()))\n```"
SQUARE = "```python\nprint(int(input()) ** 2)\n```"
CASES = {"inputs": ["2\n", "3\n"], "outputs": ["4\n", "6\n"]}
LOST = {"inputs": [], "outputs": []}


def told(**found: object) -> None:
    """Say what was found, behind whatever others print."""
    import json

    sys.stdout.write("\n" + json.dumps(found) + "\n")
