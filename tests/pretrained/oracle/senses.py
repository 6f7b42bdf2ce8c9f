"""Scores of one word's senses by layer, and how alike the layers of two models are, in NumPy, float64, from the tensors of
make.py; independent of attune.

    pip install numpy safetensors
    python tests/pretrained/oracle/senses.py

The baseline goes over all pairs one by one, where attune takes the square of a sum. It writes senses.json beside itself: for
each fixture the sentences of ids, the position of the token WORD in each, the senses (null: none), and for each layer, 0 being
the row of the word table, the scores in the order of SCORES and the cosines of all occurrences; and for PAIR, linear CKA of each
layer of the one with each of the other over the tokens of a sentence, 0 being the embeddings.
"""
import json
import os
from itertools import combinations
import numpy as np
from make import HERE, models

WORD = 45
SENTENCES = [
    ([2, 45, 311, 7, 3], 'A'), ([2, 45, 7, 12, 3], 'A'), ([2, 90, 45, 400, 3], 'B'), ([2, 400, 45, 311, 8, 90, 3], 'B'),
    ([2, 8, 90, 12, 45, 3], 'C'), ([2, 12, 7, 45, 3], None),
]
ADDED = (2, 3)
SCORES = ['all', 'within', 'between', 'nearest', 'baseline']
TABLES = ['bert.embeddings.word_embeddings.weight', 'embeddings.word_embeddings.weight',
          'transformer.wte.weight', 'wte.weight']


def cosine(a, b):
    return float(a @ b / np.sqrt(a @ a) / np.sqrt(b @ b))


def mean(numbers):
    numbers = list(numbers)
    return float(np.mean(numbers)) if numbers else None


def scores(x, senses, tokens, rows):
    c = [[cosine(a, b) for b in x] for a in x]
    pairs = list(combinations(range(len(x)), 2))
    said = [(i, j) for i, j in pairs if senses[i] and senses[j]]
    known = [i for i in range(len(x)) if senses[i]]
    hits = []
    for i in known:
        others = [j for j in known if j != i]
        best = max(c[i][j] for j in others)
        hits.append(np.mean([senses[i] == senses[j] for j in others if best - c[i][j] < 1e-9]))
    different = [(i, j) for i, j in combinations(range(len(rows)), 2) if tokens[i] != tokens[j]]
    return dict(
        all=mean(c[i][j] for i, j in pairs),
        within=mean(c[i][j] for i, j in said if senses[i] == senses[j]),
        between=mean(c[i][j] for i, j in said if senses[i] != senses[j]),
        nearest=mean(hits),
        baseline=mean(cosine(rows[i], rows[j]) for i, j in different),
    ), c


PAIR = ('bert-wild', 'gpt2-wild')


def cka(x, y):
    x, y = x - x.mean(0), y - y.mean(0)
    return float(np.linalg.norm(y.T @ x) ** 2 / np.linalg.norm(x.T @ x) / np.linalg.norm(y.T @ y))


found, states_of = {}, {}
for name, config, tensors, forward in models():
    layers = config.get('num_hidden_layers') or config['n_layer']
    table = next(np.asarray(tensors[key], dtype=np.float64) for key in TABLES if key in tensors)
    passes = [(np.array(ids), forward(config, tensors, np.array(ids), np.zeros(len(ids), int))) for ids, _ in SENTENCES]
    out = passes[3][1]
    states_of[name] = [out['input']] + [out[f'output.{layer}'] for layer in range(layers)]
    places = [ids.tolist().index(WORD) for ids, _ in passes]
    senses = [sense for _, sense in SENTENCES]
    by_layer = []
    for layer in range(layers + 1):
        states = [table[ids] if layer == 0 else out[f'output.{layer - 1}'] for ids, out in passes]
        kept = [(ids[i], state[i]) for (ids, _), state in zip(passes, states)
                for i in range(1, len(ids)) if not (name.startswith('bert') and ids[i] in ADDED)]
        values, cosines = scores([state[i] for state, i in zip(states, places)], senses,
                                 [token for token, _ in kept], [row for _, row in kept])
        by_layer.append(dict(scores=[values[score] for score in SCORES], cosines=cosines))
    found[name] = dict(word=WORD, sentences=[ids for ids, _ in SENTENCES], places=places, senses=senses, layers=by_layer)
found['cka'] = [[cka(x, y) for y in states_of[PAIR[1]]] for x in states_of[PAIR[0]]]
with open(os.path.join(HERE, 'senses.json'), 'w') as file:
    json.dump(found, file)
    file.write('\n')
