"""Twenty greedy tokens of each decoder among the fixtures, by transformers, after the fixture's list of seven ids.

    pip install torch transformers
    python tests/families/oracle/make_greedy.py > tests/families/oracle/greedy_transformers.json

Without kept keys and values, so that each token is that of a whole pass, and in double precision, so that it does not hang
on how sums are rounded. The gap that the script says is the smallest one of a fixture between its likeliest token and the
next.
"""

import json
import pathlib
import sys

import torch
from transformers import AutoConfig, AutoModelForCausalLM

FIXTURES = pathlib.Path(__file__).parents[2] / "fixtures" / "pretrained"
DECODERS = {
    "llama", "mistral", "qwen2", "qwen3", "gemma", "gemma2", "gemma3_text", "phi3", "phi", "gpt_neox", "gpt_neo", "opt", "olmo2",
}
TOKENS = 20


def greedy(folder, prompt):
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float64, attn_implementation="eager").eval()
    ids, gap = list(prompt), float("inf")
    with torch.no_grad():
        for _ in range(TOKENS):
            logits = model(torch.tensor([ids]), use_cache=False).logits[0, -1]
            best = logits.topk(2)
            gap = min(gap, float(best.values[0] - best.values[1]))
            ids.append(int(best.indices[0]))
    return ids[len(prompt):], gap


def main():
    found = {}
    for folder in sorted(FIXTURES.iterdir()):
        lists = folder / "ids.json"
        if lists.exists() and AutoConfig.from_pretrained(folder).model_type in DECODERS:
            found[folder.name], gap = greedy(folder, json.loads(lists.read_text())["n7"])
            print(f"{folder.name}: gap {gap:.2e}", file=sys.stderr)
    print("{")
    print(",\n".join(f"  {json.dumps(name)}: {json.dumps(ids)}" for name, ids in found.items()))
    print("}")


main()
