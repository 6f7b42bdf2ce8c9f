"""The experiment of lessons/now.ron in PyTorch: a small block of today, and each of its parts turned back to 2017.

    python tests/lessons/oracle/now.py

Prints, for each of them and over seeds 1 to 10: the lowest and the highest loss at the end, the lowest probability of
the right bed after "the old cat sleeps on the" and after "the old dog sleeps on the", which training never read, and
the highest weight of the last word on the animal in layer 1.
"""
import math
import torch
from torch.nn import functional as F

LINES = """the old cat sleeps on the mat
the old bird sleeps on the roof
the old horse sleeps on the straw
the small cat sleeps on the mat
the small dog sleeps on the rug
the small bird sleeps on the roof
the happy cat sleeps on the mat
the happy dog sleeps on the rug
the happy horse sleeps on the straw"""
SENTENCES = [line.split() for line in LINES.splitlines()]
WORDS = sorted({word for sentence in SENTENCES for word in sentence})
IDS = torch.tensor([[WORDS.index(word) for word in sentence] for sentence in SENTENCES])
WIDTH, HEADS, KEY, HIDDEN, LAYERS, STEPS, RATE, THETA, BACK = 16, 4, 4, 24, 2, 800, 0.003, 100.0, 2
# Words of the lesson begin at skip-gram vectors of about this length in each entry.
START = 0.3

TODAY = dict(rotary=True, pre=True, rms=True, gated=True, bias=False, sets=2, window=True)
CHANGES = [
    ("today", {}),
    ("learned positions", dict(rotary=False)),
    ("norm after each part", dict(pre=False)),
    ("layer norm", dict(rms=False)),
    ("relu, not gated", dict(gated=False)),
    ("biases", dict(bias=True)),
    ("keys and values for each head", dict(sets=HEADS)),
    ("no window", dict(window=False)),
    ("all", dict(rotary=False, pre=False, rms=False, gated=False, bias=True, sets=HEADS, window=False)),
]


class Rms(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = torch.nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        return x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-5) * self.gain


def turned(x):
    """Pairs of columns, turned by angles that grow with the position."""
    half = KEY // 2
    angles = torch.arange(x.shape[-2])[:, None] * THETA ** (-torch.arange(half) / half)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], -1)


class Block(torch.nn.Module):
    def __init__(self, form):
        super().__init__()
        linear = lambda a, b: torch.nn.Linear(a, b, bias=form["bias"])
        self.form = form
        self.q, self.o = linear(WIDTH, HEADS * KEY), linear(HEADS * KEY, WIDTH)
        self.k, self.v = linear(WIDTH, form["sets"] * KEY), linear(WIDTH, form["sets"] * KEY)
        self.up, self.down = linear(WIDTH, HIDDEN), linear(HIDDEN, WIDTH)
        self.gate = linear(WIDTH, HIDDEN) if form["gated"] else None
        self.norms = torch.nn.ModuleList(Rms() if form["rms"] else torch.nn.LayerNorm(WIDTH) for _ in range(2))

    def attend(self, x):
        length = x.shape[-2]
        heads = lambda y: y.unflatten(-1, (-1, KEY)).transpose(-2, -3)
        q, k, v = heads(self.q(x)), heads(self.k(x)), heads(self.v(x))
        if self.form["rotary"]:
            q, k = turned(q), turned(k)
        k, v = (y.repeat_interleave(HEADS // self.form["sets"], -3) for y in (k, v))
        places = torch.arange(length)
        back = places[:, None] - places
        sees = (back >= 0) & ((back <= BACK) | (not self.form["window"]))
        weights = (q @ k.mT / math.sqrt(KEY)).masked_fill(~sees, -math.inf).softmax(-1)
        self.weights = weights
        return self.o((weights @ v).transpose(-2, -3).flatten(-2))

    def feed(self, x):
        hidden = F.silu(self.gate(x)) * self.up(x) if self.gate is not None else F.relu(self.up(x))
        return self.down(hidden)

    def forward(self, x):
        for part, norm in zip((self.attend, self.feed), self.norms):
            x = x + part(norm(x)) if self.form["pre"] else norm(x + part(x))
        return x


class Model(torch.nn.Module):
    def __init__(self, form):
        super().__init__()
        self.table = torch.nn.Parameter(torch.randn(len(WORDS), WIDTH) * START)
        self.places = None if form["rotary"] else torch.nn.Parameter(torch.randn(8, WIDTH) * START)
        self.blocks = torch.nn.ModuleList(Block(form) for _ in range(LAYERS))
        self.last = Rms() if form["pre"] and form["rms"] else torch.nn.LayerNorm(WIDTH) if form["pre"] else None

    def forward(self, ids):
        x = self.table[ids]
        if self.places is not None:
            x = x + self.places[: ids.shape[-1]]
        for block in self.blocks:
            x = block(x)
        return (self.last(x) if self.last is not None else x) @ self.table.T


def train(form, seed):
    torch.manual_seed(seed)
    model = Model(form)
    adam = torch.optim.Adam(model.parameters(), lr=RATE)
    for _ in range(STEPS):
        loss = F.cross_entropy(model(IDS[:, :-1]).flatten(0, 1), IDS[:, 1:].flatten())
        adam.zero_grad()
        loss.backward()
        adam.step()
    answers, look = [], 0.0
    with torch.no_grad():
        for animal, bed in (("cat", "mat"), ("dog", "rug")):
            ids = torch.tensor([WORDS.index(word) for word in f"the old {animal} sleeps on the".split()])
            answers.append(model(ids).softmax(-1)[-1, WORDS.index(bed)].item())
            look = max(look, model.blocks[0].weights[:, -1, 2].max().item())
    return loss.item(), *answers, look


for name, change in CHANGES:
    losses, mats, rugs, looks = zip(*(train({**TODAY, **change}, seed) for seed in range(1, 11)))
    print(f"{name:30} loss {min(losses):.3f} to {max(losses):.3f}  mat {min(mats):.2f}  rug {min(rugs):.2f}  "
          f"weight on the animal {max(looks):.2f}")
