"""What `expected.safetensors` of transformers does not have, by ref_modern.py in float64: of the lists of 1 and 7 ids the queries and
keys as they enter the scores, values (of the heads that have them), mixes and hidden units; and 20 words that each decoder goes on with
behind the 7, each the likeliest.

    pip install numpy
    python tests/families/oracle/make_numpy.py tests/fixtures/pretrained

It writes FOLDER/numpy.safetensors beside each expected.safetensors, and greedy.json beside this script."""
import glob, json, os, sys
from pathlib import Path
import numpy as np
import ref_modern as ref

KEYS, WORDS = ['q', 'k', 'v', 'mix', 'mlp_hidden'], 20

def write(file, tensors):
    head, parts, at = {}, [], 0
    for name, x in sorted(tensors.items()):
        b = np.ascontiguousarray(x, '<f4').tobytes(); parts.append(b)
        head[name] = dict(dtype='F32', shape=list(x.shape), data_offsets=[at, at + len(b)]); at += len(b)
    head = json.dumps(head).encode(); head += b' ' * (-len(head) % 8)
    Path(file).write_bytes(len(head).to_bytes(8, 'little') + head + b''.join(parts))

greedy = {}
for d in sorted(glob.glob(os.path.join(sys.argv[1], '*', 'expected.safetensors'))):
    d = os.path.dirname(d); c, t = ref.load(d); lists, out = json.loads(Path(d, 'ids.json').read_text()), {}
    for k in ('n1', 'n7'):
        out.update({f'{k}.{n}': x for n, x in ref.forward(c, t, lists[k]).items() if n.split('.')[0] in KEYS})
    write(Path(d, 'numpy.safetensors'), out)
    if 'CausalLM' not in c['architectures'][0] and 'LMHead' not in c['architectures'][0]: continue
    ids, gap = list(lists['n7']), np.inf
    for _ in range(WORDS):
        z = np.sort(ref.forward(c, t, ids)['logits'][-1]); gap = min(gap, z[-1] - z[-2])
        ids.append(int(ref.forward(c, t, ids)['logits'][-1].argmax()))
    greedy[os.path.basename(d)] = ids[7:]; print(f'{os.path.basename(d)}: the nearest two logits are {gap:.1e} apart')
Path(os.path.dirname(os.path.abspath(__file__)), 'greedy.json').write_text(json.dumps(greedy, indent=1).replace('\n  ', ' ') + '\n')
