"""Write what a model did on one text as a recording, a .safetensors file that attune opens: docs/recordings.md of attune says what it may hold.

    record(path, model, inputs, tokens)        any model of transformers 5: model(**inputs) is run once, on a batch of one text
    save(path, tokens, tensors)                any other model: you give the tensors, {"attentions.0": (heads, queries, keys), …}

Needs torch and safetensors, and transformers for `record`."""
import inspect, json, re, sys
import torch
from safetensors.torch import save_file

CROSS = ("EncDecAttention", "encoder_attn", "crossattention", "cross_attn")


def save(path, tokens, tensors, /, **about):
    about = {"attune": "recording 1", "tokens": list(tokens)} | about
    tensors = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()}
    save_file(tensors, path, {key: value if isinstance(value, str) else json.dumps(value) for key, value in about.items()})


def record(path, model, inputs, tokens, /, proof=True, **about):
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import eager_mask
    names, two = {module: name for name, module in model.named_modules()}, bool(model.config.is_encoder_decoder)
    tensors, pending = {}, []

    def place(module):  # encoder-decoder models have three kinds of attention; the layer is the first number of the module's name
        name = names[module]
        kind = "" if not two else "cross_" if any(part in name for part in CROSS) else "encoder_" if "encoder." in name.replace("decoder.", "") else "decoder_"
        return kind, int(re.search(r"(?:^|\.)(\d+)(?:\.|$)", name).group(1))

    def watched(module, query, key, value, mask, **rest):  # the model's own arithmetic, and what went in and came out of it
        output, weights = sys.modules[type(module).__module__].eager_attention_forward(module, query, key, value, mask, **rest)
        kind, layer = place(module)
        tensors[f"{kind}attentions.{layer}"] = weights[0]
        if proof:
            for name, tensor in (("queries", query), ("keys", key), ("values", value)):
                tensors[f"{kind}{name}.{layer}"] = tensor[0]
            scale = query.shape[-1] ** -0.5 if rest.get("scaling") is None else rest["scaling"]
            tensors[f"{kind}score_scale.{layer}"] = torch.tensor([float(scale)])
            if rest.get("softcap"):
                tensors[f"{kind}score_cap.{layer}"] = torch.tensor([float(rest["softcap"])])
            if rest.get("position_bias") is not None and rest["position_bias"].any():  # T5's distances
                tensors[f"{kind}score_bias.{layer}"] = rest["position_bias"][0]
            if rest.get("s_aux") is not None:  # a learned sink takes a share of each row
                tensors[f"{kind}sinks.{layer}"] = rest["s_aux"]
            pending[:] = [(f"{kind}output_weight.{layer}", output.flatten(-2))]
        return output, weights

    def projection(module, arguments):  # the first matrix that reads the heads' outputs is W_O
        if pending and arguments and arguments[0].shape == pending[0][1].shape and torch.equal(arguments[0], pending[0][1]):
            weight = module.weight
            tensors[pending.pop()[0]] = weight if type(module).__name__ == "Conv1D" else weight.T

    normed = {}
    hooks = [module.register_forward_pre_hook(projection) for module in names if type(module).__name__ in ("Linear", "Conv1D")]
    hooks += [module.register_forward_hook(lambda _, __, output, name=name: normed.update({name: output}))
              for module, name in names.items() if "norm" in type(module).__name__.lower() and not re.search(r"\.\d+\.", name)]
    AttentionInterface.register("attune_record", watched)
    AttentionMaskInterface.register("attune_record", eager_mask)
    before, training = model.config._attn_implementation, model.training
    model.eval().set_attn_implementation("attune_record")  # eval: no dropout
    try:
        with torch.no_grad():
            wanted = {"output_hidden_states": True} | ({"use_cache": False} if "use_cache" in inspect.signature(model.forward).parameters else {})
            out = model(**inputs, **wanted)
    finally:
        model.set_attn_implementation(before), model.train(training), [hook.remove() for hook in hooks]
    if not any("attentions" in name for name in tensors):
        raise SystemExit("this model does not use transformers' attention interface: take output_attentions=True with attn_implementation=\"eager\", and save()")
    for kind in ("encoder_", "decoder_") if two else ("",):
        states = getattr(out, f"{kind}hidden_states")
        tensors |= {f"{kind}hidden_states.{layer}": state[0] for layer, state in enumerate(states)}
        if any(isinstance(value, torch.Tensor) and value.shape == states[-1].shape and torch.equal(value, states[-1]) for value in normed.values()):
            about[f"{kind}final_norm"] = "applied"  # the last hidden state is behind the model's final norm
    if isinstance(getattr(out, "logits", None), torch.Tensor) and about.pop("logits", True):
        tensors["logits"] = out.logits[0] if out.logits.dim() == 3 else out.logits
    save(path, tokens, tensors, model=about.pop("model", type(model).__name__), **about)
