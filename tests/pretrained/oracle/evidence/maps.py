"""Patch maps, ablation maps and path patching. Run alone: python maps.py FOLDER SENTENCE SECOND [ANSWER AGAINST]

The sentence is changed (0), the second sentence is where the values come from (1)."""
import sys
import torch
from forward import load, encode, run, word, answer_place


def setting(m, sentence, second, answer=None, against=None, at=None):
    (a, pieces), (b, others) = encode(m, sentence), encode(m, second)
    assert len(a) == len(b), f"{len(a)} and {len(b)} tokens: a patch pairs tokens by place"
    place = answer_place(m, pieces) if at is None else at
    r, o = run(m, a), run(m, b)
    answer = int(o.logits[place].argmax()) if answer is None else word(m, answer)
    against = int(r.logits[place].argmax()) if against is None else word(m, against)
    assert answer != against, "both sentences have the same answer"
    return a, b, pieces, place, r, o, answer, against


def asked(logits, place, answer, against):
    """The difference of logits, and the probability of the answer."""
    z = logits[place]
    return torch.stack([z[answer] - z[against], z.softmax(-1)[answer]])


def patch_maps(m, sentence, second, answer=None, against=None, at=None):
    a, b, pieces, place, r, o, answer, against = setting(m, sentence, second, answer, against, at)
    ask = lambda run_: asked(run_.logits, place, answer, against)
    low, high = ask(r), ask(o)
    share = lambda edit: ((ask(run(m, a, edit)) - low) / (high - low)).tolist()

    def one_word(layer, token):  # before the layer, the token has the vector that the second sentence's token has there
        return lambda step, n, x: torch.where((torch.arange(len(a)) == token)[:, None], o.layers[layer].input, x) if step == "input" and n == layer else x

    def one_head(layer, head, mix):  # the head's weighted sums of values, at all tokens
        return lambda step, n, x: torch.where((torch.arange(m.heads) == head)[:, None, None], mix, x) if step == "mix" and n == layer else x

    words = [[share(one_word(n, t)) for t in range(len(a))] for n in range(m.layers)]
    heads = [[share(one_head(n, h, o.layers[n].mix)) for h in range(m.heads)] for n in range(m.layers)]
    change = lambda edit: (ask(run(m, a, edit)) - low).tolist()
    off = [[change(one_head(n, h, torch.zeros(()))) for h in range(m.heads)] for n in range(m.layers)]
    mean = [[change(one_head(n, h, r.layers[n].mix.mean(1, keepdim=True))) for h in range(m.heads)] for n in range(m.layers)]
    pick = lambda grid, which: [[cell[which] for cell in row] for row in grid]
    names = m.tokenizer.id_to_token
    return {"tokens": pieces, "second_tokens": encode(m, second)[1], "place": place, "answer": names(answer), "against": names(against),
            **{kind: {"sentence": float(low[k]), "second": float(high[k]), "words": pick(words, k), "heads": pick(heads, k), "off": pick(off, k), "mean": pick(mean, k)}
               for k, kind in enumerate(("difference", "probability"))}}


def paths(m, sentence, second, receiver, part, answer=None, against=None, at=None, direct=False):
    """The effect of each earlier head through the receiver's q, k or v alone; with receiver None, straight to the answer.

    All other heads keep what they gave; feed-forward parts are computed again, or kept too where `direct`."""
    a, b, pieces, place, r, o, answer, against = setting(m, sentence, second, answer, against, at)
    ask = lambda run_: float(asked(run_.logits, place, answer, against)[0])
    low, high = ask(r), ask(o)
    rows = []
    for layer in range(m.layers if receiver is None else receiver[0]):
        row = []
        for head in range(m.heads):
            def only_the_sender(step, n, x):
                if step == "feed_forward" and direct:
                    return r.layers[n].ff
                if step != "mix":
                    return x
                kept = r.layers[n].mix
                return torch.where((torch.arange(m.heads) == head)[:, None, None], o.layers[n].mix, kept) if n == layer else kept
            sent = run(m, a, only_the_sender)
            if receiver is None:
                row.append((ask(sent) - low) / (high - low))
                continue
            arrived = getattr(sent.layers[receiver[0]], part)
            put = lambda step, n, x: torch.where((torch.arange(m.heads) == receiver[1])[:, None, None], arrived, x) if (step, n) == (part, receiver[0]) else x
            row.append((ask(run(m, a, put)) - low) / (high - low))
        rows.append(row)
    return rows


if __name__ == "__main__":
    m = load(sys.argv[1])
    found = patch_maps(m, *sys.argv[2:6])
    d = found["difference"]
    print(f"answer {found['answer']} against {found['against']} at token {found['place'] + 1}: {d['sentence']:.2f} in the sentence, {d['second']:.2f} in the second")
    print("layer  " + " ".join(f"{t[:7]:>7}" for t in found["tokens"]))
    for n, row in enumerate(d["words"]):
        print(f"{n + 1:5}  " + " ".join(f"{x:7.2f}" for x in row))
    for kind in ("heads", "off", "mean"):
        print(kind)
        for n, row in enumerate(d[kind]):
            print(f"{n + 1:5}  " + " ".join(f"{x:7.2f}" for x in row))
    last = m.layers - 1
    for part in "qkv":
        best = max(range(m.heads), key=lambda h: abs(d["heads"][last][h]))
        print(f"into {part} of head {last + 1}.{best + 1}")
        for n, row in enumerate(paths(m, sys.argv[2], sys.argv[3], (last, best), part, *sys.argv[4:6])):
            print(f"{n + 1:5}  " + " ".join(f"{x:7.2f}" for x in row))
    print("straight to the answer")
    for n, row in enumerate(paths(m, sys.argv[2], sys.argv[3], None, None, *sys.argv[4:6])):
        print(f"{n + 1:5}  " + " ".join(f"{x:7.2f}" for x in row))
