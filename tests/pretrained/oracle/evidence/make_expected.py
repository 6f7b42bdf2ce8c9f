"""Writes frame.json and writer.json: what the programs here say of lessons/frame and lessons/writer, in float64.

    pip install torch safetensors tokenizers
    python tests/pretrained/oracle/evidence/make_expected.py lessons
"""
import json, os, sys
from forward import load, encode, run
from maps import patch_maps, paths
from score import table as score_table
from tables import composition, compared, written, copying
from words import table as word_table
from heads import corpus

here, lessons = os.path.dirname(os.path.abspath(__file__)), sys.argv[1]
CASES = {
    "frame": [("the dog could not catch the fox because it was too slow, so it was the [MASK] that was too slow.",
               "the fox could not catch the dog because it was too slow, so it was the [MASK] that was too slow.", "fox", "dog", [(5, 0, 18, 2), (4, 3, 18, 2)], (5, 0, "v")),
              ("the trophy did not fit in the suitcase because it was too big. we saw that the [MASK] was too big.",
               "the trophy did not fit in the suitcase because it was too small. we saw that the [MASK] was too small.", "suitcase", "trophy", [(5, 0, 19, 2), (3, 1, 9, 2)], (4, 3, "k"))],
    "writer": [("the trophy did not fit in the suitcase because it was too big, so it was the",
                "the suitcase did not fit in the trophy because it was too big, so it was the", "suitcase", "trophy", [(1, 1, 18, 2), (3, 0, 18, 2)], (1, 1, "v")),
               ("lamp fox green lamp fox green lamp fox", "lamp fox blue lamp fox blue lamp fox", "blue", "green", [(1, 1, 8, 3), (1, 1, 8, 6)], (1, 1, "k"))],
}
WORDS = {"frame": ["dog", "bank", "because"], "writer": ["fox", "trophy", "the"]}
short = lambda x: json.loads(json.dumps(x), parse_float=lambda t: float(f"{float(t):.6g}"))

for name, cases in CASES.items():
    m, out = load(os.path.join(lessons, name)), {"sentences": []}
    names = [m.tokenizer.id_to_token(i) for i in range(len(m.E))]
    for sentence, second, answer, against, scores, (layer, head, part) in cases:
        ids, pieces = encode(m, sentence)
        r = run(m, ids)
        one = {"sentence": sentence, "second": second, "tokens": pieces, "map": patch_maps(m, sentence, second, answer, against)}
        one["paths"] = {"into": f"{layer + 1}.{head + 1}:{part}", "heads": paths(m, sentence, second, (layer, head), part, answer, against), "direct": paths(m, sentence, second, (layer, head), part, answer, against, direct=True),
                        "answer": paths(m, sentence, second, None, None, answer, against)}
        one["scores"] = []
        for l, h, q, k in scores:
            t = score_table(m, r, l, h, q, k)
            for side in ("query_words", "key_words"):  # the ten largest of hundreds
                t[side] = sorted(t[side], key=lambda x: -abs(x[1]))[:10]
            one["scores"].append({"score_of": f"{l + 1}.{h + 1}:{q + 1}-{k + 1}"} | t)
        one["words"] = word_table(m, sentence, against, answer)  # the sentence's own answer
        one["scores"] = one["scores"][:1]
        if name == "frame" and out["sentences"]:  # one sentence of frame has the large tables
            for large in ("map", "paths", "scores"):
                del one[large]
        out["sentences"].append(short(one))
    heads = [(0, 0), (1, 1), (m.layers - 1, 0)]
    top = lambda row: [[names[i], float(row[i])] for i in row.topk(6).indices]
    out["composition"] = short(composition(m))[::7]
    out["tables"] = short([{"head": f"{l + 1}.{h + 1}", "looks_at": {w: top(compared(m, l, h)[names.index(w)]) for w in WORDS[name]}, "writes": {w: top(written(m, l, h)[names.index(w)]) for w in WORDS[name]}} for l, h in heads])
    if m.causal:
        out["copying"] = short([[copying(m, n, h) for h in range(m.heads)] for n in range(m.layers)])
    found = corpus(m, open(os.path.join(here, f"{name}.txt"), encoding="utf-8").read().splitlines())
    for head in found["heads"]:
        head["top_key_tokens"], head["top_query_tokens"] = head["top_key_tokens"][:3], head["top_query_tokens"][:3]
    found["places"] = list(range(0, len(found["heads"]), 5))
    found["heads"] = found["heads"][::5]
    out["heads"] = short(found)
    json.dump(out, open(os.path.join(here, f"{name}.json"), "w"), separators=(",", ":"), ensure_ascii=False)
    print(name, os.path.getsize(os.path.join(here, f"{name}.json")) // 1000, "kB; score minus sum of its pairs", max(abs(s["score"] - sum(map(sum, s["pairs"]))) for o in out["sentences"] for s in o["scores"]),
          "; integrated gradients minus difference", [round(sum(o["words"]["measures"]["integrated"]) - o["words"]["difference"] + o["words"]["nothing"], 4) for o in out["sentences"]])
