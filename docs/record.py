"""Write what a model did on one text as a recording, a .safetensors file that attune opens: docs/recordings.md of attune says what it may hold.

    record(path, model, inputs, tokens)        a model of transformers 5, or a module with nn.MultiheadAttention in it, such as an
                                               nn.TransformerEncoder: it is run once, on a batch of one text
    save(path, tokens, tensors)                any other model: you give the tensors, {"attentions.0": (heads, queries, keys), …}

Needs torch and safetensors, and transformers for its models."""
import inspect, json, re, sys
import torch
from safetensors.torch import save_file

CROSS = ("EncDecAttention", "encoder_attn", "crossattention", "cross_attn", "multihead_attn")  # a decoder's attention to its source


def save(path, tokens, tensors, /, **about):
    if "picture" in about:  # (height, width, 3) from 0 to 255, whose patches the tokens are
        tensors = tensors | {"picture": torch.as_tensor(about.pop("picture"), dtype=torch.uint8)}
    for name, tensor in tensors.items():
        rows = about.get("source_tokens", ()) if name.startswith("encoder_") else tokens
        if re.fullmatch(r"(\w+_)?attentions\.\d+", name) and (tensor.dim() != 3 or tensor.shape[1] != len(rows)):
            raise ValueError(f"{name} has the shape {tuple(tensor.shape)}, but there are {len(rows)} tokens: give (heads, queries, keys) of one "
                             "text, without the batch; of a model of two towers, record one, such as model.vision_model; an encoder needs source_tokens=…")
    words = about.get("words") or []
    if any(word is not None for word in words):  # the tokens that a tokenizer adds are in no word
        about = {"special": [place for place, word in enumerate(words) if word is None]} | about
    about = {"attune": "recording 1", "tokens": list(tokens)} | about
    tensors = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()}
    save_file(tensors, path, {key: value if isinstance(value, str) else json.dumps(value) for key, value in about.items()})


class Watch:
    """Keeps what goes into a model's attention and what comes out of it, under the names of a recording."""

    def __init__(self, model, proof, two_towers):
        self.names, self.proof, self.two = {module: name for name, module in model.named_modules()}, proof, two_towers
        self.tensors, self.pending, self.hooks, self.normed = {}, [], [], {}
        for module, name in self.names.items():
            kind = type(module).__name__
            if kind in ("Linear", "Conv1D"):
                self.hooks.append(module.register_forward_pre_hook(self.projection))
            elif isinstance(module, torch.nn.MultiheadAttention):
                wanted = {"need_weights": True, "average_attn_weights": False}
                self.hooks.append(module.register_forward_pre_hook(lambda _, args, rest, wanted=wanted: (args, rest | wanted), with_kwargs=True))
                self.hooks.append(module.register_forward_hook(self.multihead, with_kwargs=True))
            elif isinstance(module, (torch.nn.TransformerEncoderLayer, torch.nn.TransformerDecoderLayer)):
                self.hooks.append(module.register_forward_hook(self.layer))
            elif "norm" in kind.lower() and not re.search(r"\.\d+\.", name):  # a norm that is of no layer may be the final one
                self.hooks.append(module.register_forward_hook(lambda module, _, output: self.normed.update({module: output})))

    def place(self, module):
        """Returns the prefix and the layer of a module: the first number of its name, since hybrids skip layers."""
        name = self.names[module]
        towers = [any(part in name for part in CROSS), "encoder" in name.replace("decoder", "")]
        prefix = "" if not self.two else "cross_" if towers[0] else "encoder_" if towers[1] else "decoder_"
        layer = int((re.findall(r"(?:^|\.)(\d+)(?=\.|$)", name) or [0])[0])
        while f"{prefix}attentions.{layer}" in self.tensors:  # one module may be run as several layers, as ALBERT's is
            layer += 1
        return prefix, layer

    def keep(self, prefix, layer, **parts):
        self.tensors |= {f"{prefix}{part}.{layer}": tensor for part, tensor in parts.items() if tensor is not None}

    def attention(self, module, query, key, value, mask, **rest):
        """Calls the model's own attention function, so that scales, caps, distances and sinks are the model's own."""
        eager = getattr(sys.modules[type(module).__module__], "eager_attention_forward", None)
        if eager is None:
            raise RuntimeError(f"{type(module).__name__} has no eager attention: take its weights yourself, and save(path, tokens, tensors)")
        output, weights = eager(module, query, key, value, mask, **rest)
        prefix, layer = self.place(module)
        self.keep(prefix, layer, attentions=weights[0])
        if self.proof:
            scale, cap, bias = rest.get("scaling"), rest.get("softcap"), rest.get("position_bias")
            self.keep(prefix, layer, queries=query[0], keys=key[0], values=value[0], sinks=rest.get("s_aux"),
                      score_scale=torch.tensor([float(query.shape[-1] ** -0.5 if scale is None else scale)]),
                      score_cap=torch.tensor([float(cap)]) if cap else None,
                      score_bias=bias[0] if bias is not None and bias.any() else None)
            self.pending[:] = [(f"{prefix}output_weight.{layer}", output.flatten(-2))]
        return output, weights

    def projection(self, module, arguments):
        """Keeps the first matrix that reads the heads' outputs, which is W_O."""
        if self.pending and arguments and arguments[0].shape == self.pending[0][1].shape and torch.equal(arguments[0], self.pending[0][1]):
            weight = module.weight
            self.tensors[self.pending.pop()[0]] = weight if type(module).__name__ == "Conv1D" else weight.T

    def multihead(self, module, arguments, rest, output):
        """Keeps the weights of torch's own attention, and the queries, keys and values, which it does not give."""
        given = inspect.signature(module.forward).bind(*arguments, **rest).arguments
        prefix, layer = self.place(module)
        self.keep(prefix, layer, attentions=output[1][0] if output[1].dim() == 4 else output[1])
        if not self.proof or module.bias_k is not None or module.add_zero_attn:
            return
        weights = module.in_proj_weight.chunk(3) if module.in_proj_weight is not None else (module.q_proj_weight, module.k_proj_weight, module.v_proj_weight)
        biases = module.in_proj_bias.chunk(3) if module.in_proj_bias is not None else (None,) * 3
        read = [given[part] if given[part].dim() == 2 else given[part].squeeze(0 if module.batch_first else 1) for part in ("query", "key", "value")]
        heads = [torch.nn.functional.linear(*each).unflatten(-1, (module.num_heads, -1)).transpose(0, 1) for each in zip(read, weights, biases)]
        mask = given.get("attn_mask")  # numbers that are added to the scores; those that only hide keys are seen in the weights
        bias = mask.reshape(-1, *mask.shape[-2:]) if mask is not None and mask.is_floating_point() and mask.nan_to_num(neginf=0).any() else None
        self.keep(prefix, layer, queries=heads[0], keys=heads[1], values=heads[2], score_bias=bias, output_weight=module.out_proj.weight.T)

    def layer(self, module, arguments, output):
        """Keeps the vectors before and after a layer of torch's own transformer."""
        kind = "encoder_" if isinstance(module, torch.nn.TransformerEncoderLayer) else "decoder_"
        layer = int(re.findall(r"(?:^|\.)(\d+)(?=\.|$)", self.names[module])[-1])
        for number, states in ((layer, arguments[0]), (layer + 1, output)):
            states = states if states.dim() == 2 else states.squeeze(0 if module.self_attn.batch_first else 1)
            self.tensors.setdefault(f"{kind if self.two else ''}hidden_states.{number}", states)


def run_of_transformers(model, inputs, watch):
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import eager_mask
    AttentionInterface.register("attune_record", watch.attention)
    AttentionMaskInterface.register("attune_record", eager_mask)  # without it, a decoder would see what follows
    wanted = {"output_hidden_states": True} | ({"use_cache": False} if "use_cache" in inspect.signature(model.forward).parameters else {})
    before = model.config._attn_implementation
    try:
        model.set_attn_implementation("attune_record")
        out = model(**inputs, **wanted)
    except ValueError:  # a model that has no choice of attention functions
        out = None
    finally:
        model.set_attn_implementation(before)
    if not any("attentions" in name for name in watch.tensors):  # it has attention of its own, which may give its weights but not what went in
        out = model(**inputs, **wanted, output_attentions=True)
        for prefix, given in (("encoder_", "encoder_attentions"), ("decoder_", "decoder_attentions"), ("cross_", "cross_attentions")) if watch.two else (("", "attentions"),):
            weights = getattr(out, given, None) or ()
            watch.tensors |= {f"{prefix}attentions.{layer}": one[0] for layer, one in enumerate(weights) if one is not None}
    return out


def record(path, model, inputs, tokens, /, proof=True, **about):
    is_of_transformers = hasattr(model, "set_attn_implementation")
    two = bool(model.config.is_encoder_decoder) if is_of_transformers else any(isinstance(module, torch.nn.TransformerDecoderLayer) for module in model.modules())
    watch, training = Watch(model, proof, two), model.training
    model.eval()  # no dropout
    try:
        with torch.no_grad():
            if is_of_transformers:
                out = run_of_transformers(model, inputs, watch)
            else:
                out = model(**inputs) if isinstance(inputs, dict) else model(inputs)
    finally:
        model.train(training), [hook.remove() for hook in watch.hooks]
    tensors = watch.tensors
    if not any("attentions" in name for name in tensors):
        raise RuntimeError("no attention was seen: load the model with attn_implementation=\"eager\" and call it with output_attentions=True, or "
                           "return the weights from your own module; then save(path, tokens, {\"attentions.0\": weights, …})")
    for prefix in ("encoder_", "decoder_") if two else ("",):
        states = getattr(out, f"{prefix}hidden_states", None) or ()
        tensors |= {f"{prefix}hidden_states.{layer}": state[0] for layer, state in enumerate(states)}
        is_last = lambda value: states and isinstance(value, torch.Tensor) and value.shape == states[-1].shape and torch.equal(value, states[-1])
        if any(is_last(value) for value in watch.normed.values()):
            about[f"{prefix}final_norm"] = "applied"  # the last hidden state comes after the model's final norm
    if isinstance(getattr(out, "logits", None), torch.Tensor) and about.pop("logits", True):
        tensors["logits"] = out.logits[0] if out.logits.dim() == 3 else out.logits
    save(path, tokens, tensors, model=about.pop("model", type(model).__name__), **about)
