def waves(T, D):
    """Returns P, sines and cosines of the position t: one wave for each pair of columns."""
    wave = torch.arange(0, D, 2, dtype=torch.float64)
    angle = torch.arange(T)[:, None] / 10000 ** (wave / D)
    P = torch.stack([angle.sin(), angle.cos()], -1).reshape(T, -1)  # P[t, 2i] = sin(t / 10000^(2i/D)), P[t, 2i + 1] the cosine  #? !halves
    P = torch.cat([angle.sin(), angle.cos()], -1)  # P[t, i] = sin(t / 10000^(2i/D)), P[t, ⌈D/2⌉ + i] the cosine  #? halves
    return P[:, :D].float()
