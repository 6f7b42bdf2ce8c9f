"""Makes the files in tests/fixtures/vectors that other programs write in forms of their own, and what these programs read from
them: fastText 0.9.2, model2vec 0.10, NumPy 2 and gensim 4.4.

    python3 -m venv venv && venv/bin/pip install fasttext-wheel model2vec gensim numpy
    venv/bin/python tests/vectors/oracle/other_forms.py tests/fixtures/vectors

other_forms.json has the vectors: of fastText's words, which gensim reads too, and of model2vec's tokens.
"""

import json
import sys
import tempfile
from pathlib import Path

import fasttext
import numpy as np
from gensim.models.fasttext import load_facebook_vectors
from model2vec import StaticModel
from tokenizers import Tokenizer, models, pre_tokenizers

folder = Path(sys.argv[1])
scratch = Path(tempfile.mkdtemp())
text = "the river bank flooded\nthe bank lent money to the café\nthe seal sank near the ship\nzürich has a café near a river bank\n"
(scratch / "text.txt").write_text(text * 20)
(scratch / "labels.txt").write_text("__label__a the river bank\n__label__b the money bank\n" * 20)

options = {"dim": 4, "minCount": 1, "epoch": 3, "thread": 1, "verbose": 0}
expected = {}
kinds = {
    "fasttext.bin": fasttext.train_unsupervised(str(scratch / "text.txt"), "skipgram", bucket=60, minn=2, maxn=4, **options),
    "fasttext_words.bin": fasttext.train_unsupervised(str(scratch / "text.txt"), "cbow", minn=0, maxn=0, **options),
    "fasttext_labels.bin": fasttext.train_supervised(str(scratch / "labels.txt"), bucket=30, wordNgrams=2, minn=2, maxn=3, **options),
}
for name, model in kinds.items():
    model.save_model(str(folder / name))
    words = model.get_words()
    expected[name] = {word: model.get_word_vector(word).tolist() for word in words}
    if "labels" not in name:
        keyed = load_facebook_vectors(str(folder / name))
        # fastText gives the end of a line no n-grams; gensim does.
        for word in set(words) - {"</s>"}:
            assert np.allclose(keyed[word], expected[name][word], atol=1e-6), (name, word)
# Only tables of 256 rows or more are quantised.
large = fasttext.train_supervised(str(scratch / "labels.txt"), bucket=300, wordNgrams=2, minn=2, maxn=3, **options)
large.quantize(str(scratch / "labels.txt"), cutoff=0, retrain=False)
large.save_model(str(folder / "fasttext.ftz"))

pieces = ["[PAD]", "[UNK]", "river", "bank", "money", "##s", "the", "café"]
tokenizer = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]"))
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
rows = np.random.default_rng(3).normal(size=(3, 4)).astype(np.float32)
mapping = np.array([0, 2, 1, 1, 0, 2, 2, 1])
weights = np.linspace(0.25, 2, len(pieces))
forms = {
    "m2v_i64": (rows, mapping.astype(np.int64), weights.astype(np.float32)),
    "m2v_i32_f16": (rows.astype(np.float16), mapping.astype(np.int32), weights.astype(np.float64)),
    "m2v_int8": (np.array([[127, -3, 0, 5], [-128, 1, 2, 3], [9, 8, 7, 6]], np.int8), mapping.astype(np.uint8), None),
    "m2v_weights": (np.resize(rows, (8, 4)), None, weights.astype(np.float32)),
}
for name, (table, of_token, weight) in forms.items():
    model = StaticModel(table, tokenizer, config={"model_type": "model2vec"}, weights=weight, token_mapping=of_token)
    model.save_pretrained(folder / name)
    (folder / name / "modules.json").unlink()
    for readme in folder.glob(f"{name}/README.md"):
        readme.unlink()
    expected[name] = {piece: np.asarray(model._encode_helper([i])[0], np.float32).tolist() for i, piece in enumerate(pieces)}

(folder / "other_forms.json").write_text(json.dumps(expected) + "\n")
