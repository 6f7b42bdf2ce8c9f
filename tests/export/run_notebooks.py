"""Runs the code cells of notebooks in Python, as Jupyter would: all of a notebook's cells in one process, in order.

    run_notebooks.py FILE ...            # every assertion must hold
    run_notebooks.py --changed FILE ...  # and must fail once a weight was changed

With `--changed`, the number of each tensor on which the results depend most is changed. A tensor that the sentence does not need
has no gradient, and is left out.
"""

import json
import sys

# The change of a number, and the least gradient of one that is changed.
CHANGE = 0.05
LEAST = 1e-2


def cells(path):
    with open(path, encoding="utf-8") as file:
        notebook = json.load(file)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5), path
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [("".join(cell["source"]), f"{path}: {cell['id']}") for cell in code]


def run(cells, names):
    for source, name in cells:
        exec(compile(source, name, "exec"), names)


def gradients(model, arguments):
    """Returns for each tensor how much the results depend on its entries, by random weights of all results."""
    import torch

    for parameter in model.parameters():
        parameter.requires_grad_(True)
    _, steps = model(*arguments)
    finite = [value[torch.isfinite(value)] for value in steps.values() if value.requires_grad]
    total = sum((value * torch.randn(value.shape)).sum() for value in finite)
    parameters = dict(model.named_parameters())
    found = torch.autograd.grad(total, list(parameters.values()), allow_unused=True)
    return {name: gradient for name, gradient in zip(parameters, found) if gradient is not None}


def changed(path):
    """Changes one number of each tensor that the results depend on, and returns how many tensors were changed."""
    import torch

    names = {}
    run(cells(path), names)
    model, compare = names["model"], names["compare"]
    arguments = [names[name] for name in ("ids", "rows", "source_ids", "source_rows") if name in names]
    count = 0
    for name, gradient in gradients(model, arguments).items():
        at = int(gradient.abs().argmax())
        if float(gradient.view(-1)[at].abs()) < LEAST:
            continue
        count += 1
        values = model.get_parameter(name).data.view(-1)
        before = values[at].clone()
        values[at] += CHANGE
        try:
            compare(model)
        except AssertionError:
            values[at] = before
        else:
            raise SystemExit(f"{path}: {name} was changed by {CHANGE}, and every assertion holds")
    compare(model)
    return count


if __name__ == "__main__":
    paths = sys.argv[1:]
    if paths[0] == "--changed":
        for path in paths[1:]:
            count = changed(path)
            assert count > 0, path
            print(f"{path}: {count} tensors changed, and each was found")
    else:
        for path in paths:
            run(cells(path), {})
