class Library(nn.Module):
    """The same layer as nn.MultiheadAttention, which has W_Q, W_K and W_V one below the other, all transposed."""

    def __init__(self, own):
        super().__init__()
        self.own = own
        self.layer = nn.MultiheadAttention(own.H * own.d_v, own.H, bias=hasattr(own, "b_O"), batch_first=True)
        with torch.no_grad():
            self.layer.in_proj_weight.copy_(torch.cat([own.W_Q, own.W_K, own.W_V], 1).T)
            self.layer.out_proj.weight.copy_(own.W_O.T)
            if hasattr(own, "b_O"):
                self.layer.in_proj_bias.copy_(torch.cat([own.b_Q, own.b_K, own.b_V]))
                self.layer.out_proj.bias.copy_(own.b_O)

    def forward(self, X, Y):
        mask = self.own.hidden(len(X), len(Y)) if hasattr(self.own, "hidden") else None  # True where a word is not seen
        if hasattr(self.own, "B"):
            added = self.own.distances(len(X), len(Y))  # a mask of numbers is added to the scores
            mask = added if mask is None else added.masked_fill(mask, -math.inf)
        # X[None] is a batch of one sentence: (B, T, D).
        added, A = self.layer(X[None], Y[None], Y[None], attn_mask=mask, average_attn_weights=False)
        return added[0], {"weights": A[0]}


library = copy.deepcopy(model)
for block in [*library.blocks]:  #? !source
for block in [*library.source_blocks, *library.blocks]:  #? source
    if isinstance(block.attention, ({alike})):
        block.attention = Library(block.attention)
names = [name for name in attune if name.split("[")[0] not in ("Q", "K", "V", "scores", "mix")]  # it does not return these
print(f"with nn.MultiheadAttention, the largest difference is {compare(library, names):.1e}")
