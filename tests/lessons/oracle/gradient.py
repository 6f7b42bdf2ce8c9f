"""The gradients of lessons/gradient.ron, by PyTorch's autograd: of the weights, the scores and W_Q, and the loss.

    python tests/lessons/oracle/gradient.py
"""
import math
import torch

torch.set_default_dtype(torch.float64)
words = torch.tensor([[2.0, 1.0], [-2.0, 1.0], [0.5, -1.0]])
matrix = torch.eye(2, requires_grad=True)
query = words[2] @ matrix
scores = words @ query / math.sqrt(2)
weights = scores.softmax(0)
for tensor in (query, scores, weights):
    tensor.retain_grad()
loss = ((weights @ words - words[0]) ** 2).sum() / 2
loss.backward()
print("loss", loss.item())
for name, tensor in [("weights", weights), ("scores", scores), ("query", query), ("W_Q", matrix)]:
    print(name, tensor.grad.tolist())
