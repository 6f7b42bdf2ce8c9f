class {Attention}(nn.Module):
    """Attention: every word of X attends to the words of Y."""

    H, d_k, d_v = {H}, {d_k}, {d_v}  # heads; the width of a head's queries and keys; the width of its values
    G = {G}  # heads with keys and values of their own, which H / G heads share  #? grouped
    frequencies = {theta} ** (-torch.arange(0, {turned}, 2, dtype=torch.float64) / {turned})  # ω_i = θ^(−2i/r)  #? rotary !listed
    frequencies = torch.tensor({frequencies}, dtype=torch.float64)  # ω_i  #? rotary listed
    visible = torch.tensor([[c == "1" for c in row] for row in {visible}])  # a row for each query  #? custom

    def __init__(self, suffix):  #? !distances
    def __init__(self, suffix, table):  #? distances
        super().__init__()
        self.W_Q, self.W_K, self.W_V = (weights[name + suffix] for name in ["W_Q", "W_K", "W_V"])  #? projected
        self.b_Q, self.b_K, self.b_V = (weights[name + suffix] for name in ["b_Q", "b_K", "b_V"])  #? bias
        self.gamma_q, self.gamma_k = weights["gamma_q" + suffix], weights["gamma_k" + suffix]  #? normed
        self.B = weights["B" + table]  #? distances
        self.W_O = weights["W_O" + suffix]  #? output
        self.b_O = weights["b_O" + suffix]  #? output_bias
 #? masked
    def hidden(self, T, S):  #? masked
        """Returns where a query (row) does not see a key (column)."""  #? masked
        distance = torch.arange(S) - torch.arange(T)[:, None]  # j − i, from query i to key j  #? masked
        hidden = torch.zeros(T, S, dtype=torch.bool)  #? masked
        hidden |= distance > 0  # causal: a word sees itself and the words before it  #? causal
        hidden |= distance < -{before}  # a window: it does not see words farther before it  #? before
        hidden |= distance > {after}  # a window: it does not see words farther after it  #? after
        hidden[: len(self.visible), : self.visible.shape[1]] |= ~self.visible[:T, :S]  #? custom
        return hidden  #? masked
 #? distances
    def distances(self, T, S):  #? distances
        """Returns B[h, j − i], a learned number for each head h and distance from query i to key j."""  #? distances
        distance = torch.arange(S) - torch.arange(T)[:, None]  #? distances
        return self.B[:, distance + {T_max} - 1]  #? distances !buckets
        n, e = {own}, {exact}  # buckets of one direction, and how many of them have one distance each  #? buckets
        far, first = distance.abs(), n * (distance > 0)  #? buckets both
        far, first = (-distance).clamp(min=0), 0  #? buckets !both
        wide = e + (torch.log(far.clamp(min=1).double() / e) / math.log({most} / e) * (n - e)).long()  #? buckets
        return self.B[:, first + torch.where(far < e, far, wide.clamp(max=n - 1))]  #? buckets

    def forward(self, X, Y):
        """Returns what attention adds to each word of X, and what it computes on the way."""
        H, d_k, d_v, T, S = self.H, self.d_k, self.d_v, len(X), len(Y)
        Q, K, V = X, Y, Y  # nothing is projected: a word is its own query, key and value  #? !projected
        Q = X @ self.W_Q + self.b_Q  # Q = X W_Q + b_Q  #? projected bias
        K = Y @ self.W_K + self.b_K  # K = Y W_K + b_K  #? projected bias
        V = Y @ self.W_V + self.b_V  # V = Y W_V + b_V  #? projected bias
        Q = X @ self.W_Q  # Q = X W_Q  #? projected !bias
        K = Y @ self.W_K  # K = Y W_K  #? projected !bias
        V = Y @ self.W_V  # V = Y W_V  #? projected !bias
        Q, K = {norm_q}, {norm_k}  # queries and keys are normed, all heads together  #? normed !normed_each
        Q = Q.reshape(T, H, d_k).transpose(0, 1)  # head h has the columns from h d_k to (h + 1) d_k: (H, T, d_k)
        K = K.reshape(S, {K}, d_k).transpose(0, 1)
        V = V.reshape(S, {K}, d_v).transpose(0, 1)
        Q, K = {norm_q}, {norm_k}  # queries and keys are normed, each head for itself  #? normed_each
        Q, K = turn(Q, self.frequencies), turn(K, self.frequencies)  # by angles that grow with the position  #? rotary
        K, V = K.repeat_interleave(H // self.G, 0), V.repeat_interleave(H // self.G, 0)  #? grouped
        S_h = Q @ K.transpose(1, 2)  # S = Q Kᵀ  #? !scaled
        S_h = Q @ K.transpose(1, 2) / math.sqrt(d_k)  # S = Q Kᵀ / √d_k  #? scaled
        S_h = S_h / {divisor}  # a divisor of this layer  #? divided
        S_h = S_h / {temperature}  # S = S / τ, the temperature  #? temperature
        S_h = {cap} * torch.tanh(S_h / {cap})  # no score is beyond ±c  #? capped
        S_h = S_h + self.distances(T, S)  # S = S + B[h, j − i]  #? distances !temperature
        S_h = S_h + self.distances(T, S) / {temperature}  # S = S + B[h, j − i] / τ  #? distances temperature
        S_h = S_h.masked_fill(self.hidden(T, S), -math.inf)  # −∞ where a word is not seen  #? masked
        A = torch.softmax(S_h, -1)  # A = softmax(S), row by row
        A = A.masked_fill(self.hidden(T, S).all(-1, keepdim=True), 0.0)  # a word that sees no word: all weights are 0  #? custom
        M = A @ V  # M_h = A_h V_h, the mix of each head
        added = M.transpose(0, 1).reshape(T, H * d_v)  # the heads side by side: (T, H d_v)
        added = added @ self.W_O + self.b_O  # M W_O + b_O  #? output output_bias
        added = added @ self.W_O  # M W_O  #? output !output_bias
        return added, {"Q": Q, "K": K, "V": V, "scores": S_h, "weights": A, "mix": M}
