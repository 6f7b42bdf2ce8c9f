"""The words that transformers writes after a prompt, and the words that it draws among; for the fixtures of GPT-2's family.

    pip install torch transformers
    python tests/pretrained/oracle/greedy.py

It writes greedy.json beside itself: for each fixture the prompt's ids, the 20 ids that follow by `generate` without sampling,
and for some temperatures, top-k and top-p the ids that transformers' own warpers leave of the first next word.
"""
import json
import os

import torch
from transformers import AutoModelForCausalLM, TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(HERE, '../../fixtures/pretrained')
PROMPT = [2, 45, 311, 7]
COUNT = 20
SAMPLINGS = [(1.0, 5, None), (0.7, None, 0.9), (1.5, 40, 0.8), (2.0, 3, 0.999), (1.0, None, 0.05)]

found = {}
for name in ['gpt2-default', 'gpt2-wild']:
    model = AutoModelForCausalLM.from_pretrained(f'{FIXTURES}/{name}').eval()
    prompt = torch.tensor([PROMPT])
    with torch.no_grad():
        # The end of a text is no end here: the fixtures call their first id so.
        ids = model.generate(prompt, attention_mask=torch.ones_like(prompt), do_sample=False, min_new_tokens=None,
                             max_new_tokens=COUNT, eos_token_id=None, pad_token_id=0)[0].tolist()
        logits = model(prompt).logits[:, -1]
    assert len(ids) == len(PROMPT) + COUNT, ids
    kept = []
    for temperature, top_k, top_p in SAMPLINGS:
        warped = TemperatureLogitsWarper(temperature)(prompt, logits)
        warped = TopKLogitsWarper(top_k)(prompt, warped) if top_k else warped
        warped = TopPLogitsWarper(top_p)(prompt, warped) if top_p else warped
        among = torch.isfinite(warped[0]).nonzero()[:, 0].tolist()
        kept.append(dict(temperature=temperature, top_k=top_k, top_p=top_p, ids=among))
    found[name] = dict(prompt=PROMPT, goes_on=ids[len(PROMPT):], kept=kept)
    print(name, ids, [len(it['ids']) for it in kept])
json.dump(found, open(os.path.join(HERE, 'greedy.json'), 'w'))
