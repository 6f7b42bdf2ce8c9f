"""Models of one sentence that attune wrote, opened by transformers: no missing or unexpected tensor, the same pieces and logits.

Each FOLDER has `expected.json`: for each sentence its text, its ids, and attune's logits of some ids in each row.
"""
import json
import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

TOLERANCE = 2e-5


def check(folder):
    model, info = AutoModelForCausalLM.from_pretrained(folder, output_loading_info=True, attn_implementation='eager')
    wrong = {key: info[key] for key in info if info[key]}
    assert not wrong, (folder, wrong)
    model.eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    worst = 0.0
    for case in json.load(open(f'{folder}/expected.json')):
        assert tokenizer(case['text'])['input_ids'] == case['ids'], case['text']
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([case['ids']]), use_cache=False).logits[0]
        for row, expected in enumerate(case['logits']):
            for token, logit in expected:
                worst = max(worst, abs(float(logits[row, token]) - logit) / max(1.0, abs(logit)))
    print(f'{folder}: {model.config.model_type}, logits {worst:.1e}')
    assert worst <= TOLERANCE, (folder, worst)


for folder in sys.argv[1:]:
    check(folder)
