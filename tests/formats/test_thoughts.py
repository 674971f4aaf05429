"""Thoughts are taken off a reply, and the answer stays. Whole replies are tested in evals."""

import pytest

from proctor.formats.thoughts import answer, without_tokens


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("plain", "plain"), ("", ""), ("<think>a</think>b", "b"), ("a<think>b</think>c", "ac"),
        ("<THINK>a</Think>b", "b"), ("<seed:think>a</seed:think>b", "b"), ("[THINK]a[/THINK]b", "b"),
        ("◁think▷a◁/think▷b", "b"), ("<reasoning>a</reasoning>b<thought>c</thought>d", "bd"),
        # The opening tag was cut off, perhaps more than once.
        ("a</think>b", "b"), ("a</think>b</think>c", "c"), ("a<think>b</think>c</think>d", "d"),
        # It ends while thinking; or the tag stands in the answer.
        ("<think>a", ""), (" \n<think>a", ""), ("a</think><think>b", ""),
        ("a <think> b", "a <think> b"), ("<think>a</think>b <think> c", "b <think> c"),
        ("analysis a assistantfinal b", " b"), ("analysis a", "analysis a"),
        ("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>", "b"),
        ("<|channel|>analysis<|message|>a", ""),
        ("<|channel|>final<|message|>a<|end|><|channel|>final<|message|>b<|end|>c", "b"),
        ("a<|im_end|>\n", "a"), ("a</s> <eos>", "a"), ("a <|b c|>", "a <|b c|>"),
    ],
)  # fmt: skip
def test_what_is_left(reply: str, found: str) -> None:
    assert answer(reply) == found


def test_tokens_alone_are_taken_off_the_end() -> None:
    assert without_tokens("<s> a</s>[/INST]") == "<s> a"
