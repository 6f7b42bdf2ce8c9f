"""Pieces of texts by Hugging Face's tokenizers 0.23.3, whose files pretrained models come with.

    pip install tokenizers==0.23.3
    python tests/tokenizers/make_tokens.py > tests/tokenizers/tokens.json

Each text has its pieces by each tokenizer as [id, first byte, end, word, token type]; a piece that the tokenizer adds
has no word, and its place is left out. The tokenizers are those of tests/fixtures/pretrained: WordPiece and byte-level
BPE of 600 pieces each, trained on this project's lessons. A variant sets what its JSON pointers name to other values.
"""
import json
import random
from tokenizers import Tokenizer

FILES = {name: open(f"tests/fixtures/pretrained/{name}_tokenizer.json").read() for name in ("bert", "gpt2")}
BERT, GPT2 = (Tokenizer.from_str(text) for text in FILES.values())

CHOSEN = [
    "", " ", "   ", "\n", "\t \r\n ", "\u3000\u00a0", "the bank by the river", "The BANK, by the river.",
    " the bank", "the  bank   by", "the bank ", "the bank\n\nby\tthe river", "don't we'll I'm they've she'd it's you're",
    "DON'T 's''s 'S", "a1b2 12½ Ⅷ² 3.14", "$5 + 3 = 8 (ok?) [no] `x_y`-z", "café cafe\u0301 CAFÉ", "naïve Ångström Straße ẞ",
    "e\u0301\u0327 e\u0327\u0301 \u0301a", "İstanbul ıI ΣΊΣΥΦΟΣ ς", "ﬁ ǅ Ǆ", "Ελληνικά русский ёж", "中文字", "我爱 bank 银行",
    "\U00020000\U0002b820\U0002b821 \U0002b920", "ひらがなカタカナ が か\u3099", "한국어 각 \u1100\u1161\u11a8",
    "नमस\u094dत\u0947 ที\u0e48นี\u0e48", "שלום \u202eעולם\u202c", "مرحبا بالعالم ـ", "👩‍👩‍👧 family", "🇩🇪🇫🇷 ❤️ 👍🏽", "a👍b",
    "[MASK]", "the [MASK] by the river", "the[MASK]bank [mask] [MASK", "[CLS] x [SEP]", "<|endoftext|>",
    "one<|endoftext|> two <|endoftext|", "a\u0000b\u0007c\u007f\u0085d", "soft\u00adhyphen zero\u200bwidth\ufeff",
    "\ufffd\ue000\u0378\U000e0020", "\u2028\u2029 \u1680\u2003x", "a" * 100, "a" * 101, "中" * 120, "the" * 150,
    "a" * 50 + "\u0301" * 60, " " * 50 + "x", "\n " * 9, "##ing ##", "Ġthe Ċ", "\"quoted\" ‘single’ “double” « » … — –",
    "http://x.org/a?b=c&d=%20", "e\u0303\u0323o\u0302", "\u0345\u0301", "x\u20dd", "\u093e\u0301",
]
PAIRS = [("the bank", "by the river"), ("", ""), ("a", ""), ("[MASK] x", "é [SEP]"), ("中", "\u0301")]
BITS = [" ", "  ", "\n", "\u00a0", "\u200d", "\u0301", "\u0327", "[MASK]", "<|endoftext|>", "'s", "'ll", "é", "ß", "İ", "Σ", "한",
        "中", "か\u3099", "ש", "م", "नी", "1", "²", ".", "-", "$", "👩‍👧", "\x00", "\u00ad", "##", "Ġ"]
RANGES = [(0x20, 0x7f), (0xa0, 0x250), (0x300, 0x340), (0x370, 0x400), (0x400, 0x460), (0x5d0, 0x5eb), (0x620, 0x650),
          (0x905, 0x940), (0x1e00, 0x2000), (0x2000, 0x2070), (0x3040, 0x3100), (0x4e00, 0x4e80), (0xac00, 0xac80),
          (0xff00, 0xff60), (0x1f300, 0x1f600), (0x0, 0x20)]
RANDOM = 300


def drawn(seed):
    """A text of words, marks, spaces and characters of many scripts."""
    draw = random.Random(seed)
    words = [piece.replace("##", "").replace("Ġ", " ") for piece in sorted(BERT.get_vocab()) + sorted(GPT2.get_vocab())]
    parts = []
    for _ in range(draw.randrange(1, 16)):
        of = draw.random()
        parts.append(draw.choice(words) if of < 0.4 else draw.choice(BITS) if of < 0.7
                     else chr(draw.randrange(*draw.choice(RANGES))))
        parts.append(" " * (draw.random() < 0.3))
    return "".join(parts)


def pieces(encoding, texts):
    rows = []
    for id_, (start, end), word, text, segment in zip(encoding.ids, encoding.offsets, encoding.word_ids,
                                                      encoding.sequence_ids, encoding.type_ids):
        if word is None:
            rows.append([id_, None, None, None, segment])
        else:
            place = [len(texts[text][:at].encode()) for at in (start, end)]
            rows.append([id_, *place, word, segment])
    return rows


def token(id_, content, **flags):
    usual = dict(single_word=False, lstrip=False, rstrip=False, normalized=False, special=False)
    return dict(id=id_, content=content, **{**usual, **flags})


def processing(kind, start, end, **more):
    return dict(type=kind, sep=[end, END[end]], cls=[start, END[start]], **more)


END = {"[CLS]": 2, "[SEP]": 3, "<|endoftext|>": 0}
BYTE_LEVEL = dict(type="ByteLevel", add_prefix_space=True, trim_offsets=False, use_regex=True)
ADDED = [token(600, "Né", normalized=True), token(601, "New", normalized=True, single_word=True),
         token(602, "<l>", lstrip=True), token(603, "<r>", rstrip=True),
         token(604, "<lr>", lstrip=True, rstrip=True), token(605, "<w>", single_word=True),
         token(606, "<w>w", normalized=False), token(607, "BANK Y", normalized=True, lstrip=True, rstrip=True)]
VARIANTS = [
    ("bert", {"/normalizer/lowercase": False}),
    ("bert", {"/normalizer/strip_accents": False}),
    ("bert", {"/normalizer/strip_accents": True, "/normalizer/lowercase": False}),
    ("bert", {"/normalizer/clean_text": False}),
    ("bert", {"/normalizer/handle_chinese_chars": False}),
    ("bert", {"/normalizer": None}),
    ("bert", {"/pre_tokenizer": None}),
    ("bert", {"/post_processor": None}),
    ("bert", {"/post_processor": processing("BertProcessing", "[CLS]", "[SEP]")}),
    ("bert", {"/model/max_input_chars_per_word": 5}),
    ("bert", {"/model/continuing_subword_prefix": ""}),
    ("bert", {"/added_tokens": ADDED}),
    ("bert", {"/normalizer": dict(type="Sequence", normalizers=[json.loads(FILES["bert"])["normalizer"]] * 2),
              "/pre_tokenizer": dict(type="Sequence", pretokenizers=[dict(type="BertPreTokenizer"), BYTE_LEVEL])}),
    ("gpt2", {"/pre_tokenizer/add_prefix_space": True}),
    ("gpt2", {"/pre_tokenizer/use_regex": False}),
    ("gpt2", {"/model/ignore_merges": True}),
    ("gpt2", {"/added_tokens": ADDED}),
    ("gpt2", {"/pre_tokenizer": None, "/model/unk_token": "!"}),
    ("gpt2", {"/pre_tokenizer": None, "/model/unk_token": "!", "/model/fuse_unk": True}),
    ("gpt2", {"/post_processor": dict(type="Sequence", processors=[BYTE_LEVEL, processing(
        "RobertaProcessing", "<|endoftext|>", "<|endoftext|>", trim_offsets=False, add_prefix_space=False)])}),
]
VARIED = [
    "The Café  bank,\tthe\u00a0中文 b\u0301ank!", " İ ΣΑΣ e\u0301\u0327", "a\x00b\x07c \ufffd",
    "banking the riverbank 한국어",
    "\u3000x 👩‍👩‍👧",
    "the NÉ né new newt New-x <l> x <l>y", "x <r> y<r>  z <lr> <lr>", "<w> a<w> <w>w <w>wx <w><w>", "the  bank y  the Bank  Y",
    "", "  ", "[SEP]x",
]


def varied(of, change):
    """A tokenizer with other values, and its pieces of some texts."""
    json_ = json.loads(FILES[of])
    for pointer, value in change.items():
        *path, last = pointer.split("/")[1:]
        within = json_
        for name in path:
            within = within[name]
        within[last] = value
    tokenizer = Tokenizer.from_str(json.dumps(json_))
    rows = [dict(text=text, pieces=pieces(tokenizer.encode(text), [text])) for text in VARIED]
    return dict(of=of, change=change, texts=rows)


texts = CHOSEN + [drawn(seed) for seed in range(RANDOM)]
print(json.dumps({
    "texts": [dict(text=text, bert=pieces(BERT.encode(text), [text]), gpt2=pieces(GPT2.encode(text), [text]))
              for text in texts],
    "pairs": [dict(texts=pair, bert=pieces(BERT.encode(*pair), pair)) for pair in PAIRS],
    "variants": [varied(*variant) for variant in VARIANTS],
}, separators=(",", ":")).replace('{"text"', '\n{"text"'))
