def turn(x, frequencies):
    """Rotary positions: turns the columns i and i + r/2 of each head by the angle t ω_i, where t is the position."""
    pairs = len(frequencies)
    angle = torch.arange(x.shape[1])[:, None] * frequencies
    cosine, sine = angle.cos().to(x), angle.sin().to(x)
    a, b, rest = x[..., :pairs], x[..., pairs : 2 * pairs], x[..., 2 * pairs :]
    return torch.cat([a * cosine - b * sine, b * cosine + a * sine, rest], -1)
