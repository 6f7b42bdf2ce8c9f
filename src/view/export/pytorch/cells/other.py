def answer(sentence):
    """Returns the likeliest answer of each row, for a sentence of words from the vocabulary."""
    with torch.no_grad():
        Z, _ = model(torch.tensor([words.index(word) for word in sentence.split()]))
    return [classes[column] for column in Z.argmax(-1)]


answer({sentence})
