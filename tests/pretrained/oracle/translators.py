"""A model of two towers that attune wrote, opened by transformers: no missing or unexpected tensor, the same pieces, logits and words.

FOLDER has `expected.json`: for each sentence its text, the ids of source and target, and attune's logits of some ids.
"""
import json
import sys

import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

TOLERANCE = 2e-5
# Kept keys and values: for T5, transformers makes room for as many layers as the encoder has, though the decoder may have more.

folder = sys.argv[1]
model, info = AutoModelForSeq2SeqLM.from_pretrained(folder, output_loading_info=True, attn_implementation='eager')
wrong = {key: info[key] for key in info if info[key]}
assert not wrong, wrong
model.eval()
tokenizer = AutoTokenizer.from_pretrained(folder)
worst = 0.0
for case in json.load(open(f'{folder}/expected.json')):
    source, target = (torch.tensor([case[side]]) for side in ('source', 'target'))
    assert tokenizer(case['text'])['input_ids'] == case['source'], case['text']
    with torch.no_grad():
        logits = model(input_ids=source, decoder_input_ids=target, use_cache=False).logits[0]
        written = model.generate(source, do_sample=False, num_beams=1, use_cache=False, max_new_tokens=target.shape[1])[0].tolist()
    for row, expected in enumerate(case['logits']):
        for token, logit in expected:
            worst = max(worst, abs(float(logits[row, token]) - logit) / max(1.0, abs(logit)))
    assert written[:len(case['target'])] == case['target'], (written, case['target'])
assert worst <= TOLERANCE, worst
print(f'{folder}: {model.config.model_type}, logits {worst:.1e}')
