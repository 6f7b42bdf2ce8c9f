"""Models that attune wrote, opened by transformers: no missing or unexpected tensor, the same pieces, and attune's own outputs.

    pip install torch transformers
    attune export LESSON --to checkpoint -o DIR
    python tests/pretrained/oracle/exported.py ATTUNE DIR SENTENCE ...

ATTUNE is the program, which is asked for the trace of each sentence in the folder. It prints the largest differences of the
hidden states, the weights of all heads and the logits, and ends with an error where one is above 1e-4, or where saved and
opened again by transformers the tensors have other bits.
"""
import json
import subprocess
import sys
import tempfile

import torch
from safetensors.torch import load_file
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

TOLERANCE = 1e-4


def main(attune, folder, sentences):
    config = AutoConfig.from_pretrained(folder)
    kind = AutoModelForCausalLM if config.model_type == 'gpt2' else AutoModelForMaskedLM
    model, info = kind.from_pretrained(folder, output_loading_info=True, attn_implementation='eager')
    wrong = {key: info[key] for key in info if info[key]}
    assert not wrong, wrong
    model.eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    worst = dict(hidden=0.0, weights=0.0, logits=0.0)
    for sentence in sentences:
        trace = json.loads(subprocess.run([attune, 'trace', folder, '--sentence', sentence], capture_output=True, check=True).stdout)
        ids = tokenizer(sentence)['input_ids']
        assert ids == trace['ids'], (sentence, ids, trace['ids'])
        with torch.no_grad():
            out = model(torch.tensor([ids]), output_hidden_states=True, output_attentions=True)
        tensors = trace['tensors']
        differ = lambda a, b: float((a.double() - torch.tensor(b, dtype=torch.float64)).abs().max())
        worst['hidden'] = max(worst['hidden'], differ(out.hidden_states[-1][0], tensors['output']['rows']))
        worst['logits'] = max(worst['logits'], differ(out.logits[0], tensors['logits']['rows']))
        heads = [head for layer in out.attentions for head in layer[0]]
        assert f'weights[{len(heads)}]' not in tensors
        for number, head in enumerate(heads):
            worst['weights'] = max(worst['weights'], differ(head, tensors[f'weights[{number}]']['rows']))
    with tempfile.TemporaryDirectory() as again:
        model.save_pretrained(again)
        ours, theirs = (load_file(f'{path}/model.safetensors') for path in (folder, again))
        assert ours.keys() == theirs.keys(), ours.keys() ^ theirs.keys()
        assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    print(f'{folder}: {config.model_type}, {len(ours)} tensors, {len(sentences)} sentences:',
          ', '.join(f'{name} {value:.1e}' for name, value in worst.items()))
    assert max(worst.values()) <= TOLERANCE, worst


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
