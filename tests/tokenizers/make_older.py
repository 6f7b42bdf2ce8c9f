"""Writes older.json: folders of older tokenizers, and the ids that transformers 5.24 gives texts with each.

    pip install transformers==5.24.0 tokenizers==0.23.3
    python make_older.py
"""
import json
import pathlib
import tempfile

import transformers

HERE = pathlib.Path(__file__).parent
LETTERS = "abcdefghijklmnopqrstuvwxyz.,!'-"
WORDS = ["the", "bank", "river", "of", "an", "ing", "er"]
TEXTS = [
    "the bank of the river", "the [E1] bank [E2]", "The Bank<|endoftext|>the", "x <|endoftext|> y", "a [MASK] b", "a<mask> b",
    "the <pad>bank", "thebanks <E3>river", "the  [NEW] bank, [new]!", "", "</s> the <s>", "[UNK]x",
]


def lines(specials):
    return specials + list(LETTERS) + ["##" + sign for sign in LETTERS] + WORDS + ["##ing", "##er"]


def pairs(specials, blank, end=""):
    """A vocabulary and its merges: words from their first letter on, with and without the blank before them."""
    pieces = specials + list(LETTERS) + [blank] * bool(blank) + [sign + end for sign in LETTERS] * bool(end)
    merges = []
    for word in ([blank + word for word in WORDS] if blank else []) + WORDS:
        left = word[0]
        for at, sign in enumerate(word[1:], 1):
            right = sign + end * (at + 1 == len(word))
            merges.append(f"{left} {right}")
            left += right
            pieces.append(left)
    return {piece: id for id, piece in enumerate(dict.fromkeys(pieces))}, list(dict.fromkeys(merges))


def token(content, **flags):
    usual = dict(lstrip=False, normalized=False, rstrip=False, single_word=False, special=True)
    return {**usual, "content": content, **flags}


BERT = lines(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
B = len(BERT)
GPT2, GPT2_MERGES = pairs([], "Ġ")
G = len(GPT2)
WHOLE, WHOLE_MERGES = pairs(["<|endoftext|>"], "Ġ")
ROBERTA, ROBERTA_MERGES = pairs(["<s>", "<pad>", "</s>", "<unk>", "<mask>"], "Ġ")
HERBERT, HERBERT_MERGES = pairs(["<s>", "<pad>", "</s>", "<unk>", "<mask>"], "", "</w>")


def word_piece(**files):
    return {"vocab.txt": "".join(line + "\n" for line in BERT), **files}


def byte_pair(vocab, merges, **files):
    merges = "#version: 0.2\n" + "".join(pair + "\n" for pair in merges)
    return {"vocab.json": json.dumps(vocab, ensure_ascii=False), "merges.txt": merges, **files}


def files(config=None, special=None, added=None):
    named = {"tokenizer_config.json": config, "special_tokens_map.json": special, "added_tokens.json": added}
    return {name: json.dumps(value, ensure_ascii=False) for name, value in named.items() if value is not None}


CASES = {
    "bert, added": ("BertTokenizer", word_piece(**files(added={"[E1]": B, "[E2]": B + 1}))),
    "bert, added and named": ("BertTokenizer", word_piece(**files(
        special={"additional_special_tokens": ["[E1]"], "mask_token": token("[MASK]", lstrip=True)},
        added={"[E1]": B, "[NEW]": B + 1}))),
    "bert, cased": ("BertTokenizer", word_piece(**files(
        config={"do_lower_case": False, "tokenizer_class": "BertTokenizer"}, added={"[NEW]": B, "Bank": B + 1}))),
    "bert, decoder": ("BertTokenizer", word_piece(**files(
        config={"added_tokens_decoder": {
            "4": token("[MASK]", lstrip=True), str(B): token("[E1]", rstrip=True, lstrip=True),
            str(B + 1): token("[NEW]", normalized=True, special=False),
            str(B + 2): token("banks", single_word=True, normalized=True, special=False),
        }},
        special={"mask_token": "[E2]"}, added={"[E2]": B + 3}))),
    "bert, named only": ("BertTokenizer", word_piece(**files(
        special={"additional_special_tokens": ["[E1]", "<E3>"], "pad_token": "<pad>"}))),
    "gpt2, added": ("GPT2Tokenizer", byte_pair(GPT2, GPT2_MERGES, **files(
        config={"unk_token": "<|endoftext|>", "bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>",
                "add_prefix_space": False, "tokenizer_class": "GPT2Tokenizer"},
        added={"<|endoftext|>": G}))),
    "gpt2, added, unnamed": ("GPT2Tokenizer", byte_pair(WHOLE, WHOLE_MERGES, **files(added={"<pad>": len(WHOLE), "[E1]": len(WHOLE) + 1}))),
    "gpt2, named": ("GPT2Tokenizer", byte_pair(WHOLE, WHOLE_MERGES, **files(
        special={"pad_token": token("<pad>"), "additional_special_tokens": ["<E3>"],
                 "bos_token": token("<|endoftext|>", normalized=True)},
        added={"<pad>": len(WHOLE), "<E3>": len(WHOLE) + 1}))),
    "gpt2, bare": ("GPT2Tokenizer", byte_pair(GPT2, GPT2_MERGES)),
    "roberta": ("RobertaTokenizer", byte_pair(ROBERTA, ROBERTA_MERGES, **files(config={"tokenizer_class": "RobertaTokenizer"}))),
    "roberta, added": ("RobertaTokenizer", byte_pair(ROBERTA, ROBERTA_MERGES, **files(
        config={"tokenizer_class": "RobertaTokenizer", "add_prefix_space": True},
        special={"mask_token": token("<mask>", lstrip=True)}, added={"[E1]": len(ROBERTA)}))),
    "qwen2": ("Qwen2Tokenizer", byte_pair(WHOLE, WHOLE_MERGES, **files(config={"tokenizer_class": "Qwen2Tokenizer"}))),
    "herbert": ("HerbertTokenizer", byte_pair(HERBERT, HERBERT_MERGES, **files(
        config={"tokenizer_class": "HerbertTokenizerFast"}, added={"[E1]": len(HERBERT)}))),
}


def case(name, kind, folder):
    with tempfile.TemporaryDirectory() as path:
        for file, text in folder.items():
            (pathlib.Path(path) / file).write_text(text, encoding="utf-8")
        tokenizer = getattr(transformers, kind).from_pretrained(path)
        texts = [dict(text=text, ids=tokenizer(text).input_ids) for text in TEXTS]
        pair = tokenizer("the bank", "river").input_ids if name.startswith(("bert", "roberta", "herbert")) else None
        return dict(name=name, files=folder, texts=texts, pair=pair)


cases = [case(name, *rest) for name, rest in CASES.items()]
(HERE / "older.json").write_text(json.dumps(cases, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
