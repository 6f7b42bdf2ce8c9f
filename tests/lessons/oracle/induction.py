"""The experiment of lessons/induction.ron in PyTorch: two layers of attention alone learn to repeat a list, one does not.

    python tests/lessons/oracle/induction.py

Prints, for seeds 1 to 3 and one or two layers: the loss at some steps, the accuracy in the second half of new lists, the
weight of layer 1 on the word before, the weight of the last layer on the word after the earlier copy, and the accuracy
when no word of layer 1 looks at the word before it.
"""
import math
import torch

WORDS, WIDTH, LONGEST, SCALE, STEPS, BATCH = 20, 32, 10, 2.0, 1200, 64
LOSSES_AT = (100, 200, 300, 400, 500, 1200)


class Layer(torch.nn.Module):
    """One head with a learned number for each distance, and a residual connection."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (torch.nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.distance = torch.nn.Parameter(torch.zeros(2 * LONGEST))

    def forward(self, x, visible):
        length = x.shape[1]
        places = torch.arange(length)
        offset = (places[:, None] - places[None]).clamp(min=0)
        scores = self.q(x) @ self.k(x).transpose(1, 2) / math.sqrt(WIDTH) + self.distance[offset]
        weights = scores.masked_fill(~visible, -math.inf).softmax(-1)
        return x + self.o(weights @ self.v(x)), weights


def lists(half, count):
    """Lists of `half` different words, twice."""
    once = torch.rand(count, WORDS).argsort(1)[:, :half]
    return torch.cat([once, once], 1)


def read(layers, table, words, without_previous=False):
    """Logits and the weights of each layer."""
    length = words.shape[1]
    causal = torch.ones(length, length).tril().bool()
    x, weights = table[words], []
    for number, layer in enumerate(layers):
        visible = causal & ~torch.ones(length, length).tril(-1).triu(-1).bool() if without_previous and number == 0 else causal
        x, row = layer(x, visible)
        weights.append(row)
    return x @ table.T, weights


def train(count, seed):
    torch.manual_seed(seed)
    table = torch.zeros(WORDS, WIDTH)
    table[:, :WORDS] = SCALE * torch.eye(WORDS)
    layers = torch.nn.ModuleList(Layer() for _ in range(count))
    adam = torch.optim.Adam(layers.parameters(), lr=0.01)
    losses = {}
    for step in range(1, STEPS + 1):
        # Lists of all lengths in each step, a few of each.
        halves = range(4, LONGEST + 1)
        total, asked = 0.0, 0
        for half in halves:
            words = lists(half, BATCH // len(halves))
            logits, _ = read(layers, table, words[:, :-1])
            total = total + torch.nn.functional.cross_entropy(logits.flatten(0, 1), words[:, 1:].flatten(), reduction="sum")
            asked += words[:, 1:].numel()
        loss = total / asked
        adam.zero_grad()
        loss.backward()
        adam.step()
        if step in LOSSES_AT:
            losses[step] = round(loss.item(), 2)
    half = 6
    words = lists(half, 200)
    with torch.no_grad():
        logits, weights = read(layers, table, words[:, :-1])
        cut, _ = read(layers, table, words[:, :-1], without_previous=True)
    right = lambda logits: (logits.argmax(-1) == words[:, 1:])[:, half:].float().mean().item()
    previous = weights[0].diagonal(-1, 1, 2)[:, : half - 1].mean().item()
    induction = weights[-1].diagonal(1 - half, 1, 2)[:, 1:].mean().item()
    print(f"layers {count} seed {seed} losses {losses} right {right(logits):.2f} previous {previous:.2f} "
          f"induction {induction:.2f} right after the cut {right(cut):.2f}")


for count in (2, 1):
    for seed in (1, 2, 3):
        train(count, seed)
