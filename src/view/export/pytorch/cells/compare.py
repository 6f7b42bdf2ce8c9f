def compare(model, names=None):
    """Runs the sentence, and asserts each number that attune computed; returns the largest difference."""
    model.eval()
    with torch.no_grad():
        Z, steps = model({arguments})
    largest = 0.0
    for name in names or attune:
        expected, found = attune[name], steps[name]
        assert found.shape == expected.shape, f"{name}: {tuple(found.shape)}, attune has {tuple(expected.shape)}"
        hidden = torch.isinf(expected)
        assert torch.equal(torch.isinf(found), hidden), f"{name}: another mask than attune's"
        found, expected = found.masked_fill(hidden, 0.0), expected.masked_fill(hidden, 0.0)
        most = TOLERANCE * max(1.0, float(expected.abs().max()))
        difference = float((found - expected).abs().max())
        assert difference <= most, f"{name}: differs from attune's by {difference:.2g}, more than {most:.2g}"
        largest = max(largest, difference)
    Z = Z.index_fill(1, torch.tensor(never), -math.inf)  #? never
    share = torch.softmax(Z, -1)
    for row, (column, name, probability) in enumerate(answers):
        assert float(share[row].max() - share[row, column]) <= TOLERANCE, f"row {row}: {name} is not the likeliest answer"
        assert abs(float(share[row, column]) - probability) <= TOLERANCE, f"row {row}: the probability of {name}"
    return largest


model = Model()
print(f"{len(attune)} tensors and {len(answers)} answers are attune's; the largest difference is {compare(model):.1e}")
