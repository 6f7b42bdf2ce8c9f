class {Block}(nn.Module):
    """A layer: attention, and what stands around it."""

    def __init__(self, suffix):  #? !distances
    def __init__(self, suffix, table):  #? distances
        super().__init__()
        self.attention = {Attention}(suffix)  #? !distances
        self.attention = {Attention}(suffix, table)  #? distances
        self.gamma_A = weights["gamma_A" + suffix]  #? attention_norm
        self.beta_A = weights["beta_A" + suffix]  #? attention_norm shift
        self.gamma_AO = weights["gamma_AO" + suffix]  #? output_norms
        self.beta_AO = weights["beta_AO" + suffix]  #? output_norms shift
        self.W_g = weights["W_g" + suffix]  #? gated
        self.b_g = weights["b_g" + suffix]  #? gated forward_bias
        self.W_1, self.W_2 = weights["W_1" + suffix], weights["W_2" + suffix]  #? feed_forward
        self.b_1, self.b_2 = weights["b_1" + suffix], weights["b_2" + suffix]  #? feed_forward forward_bias
        self.gamma_F = weights["gamma_F" + suffix]  #? forward_norm !one_norm
        self.beta_F = weights["beta_F" + suffix]  #? forward_norm shift !one_norm
        self.gamma_FO = weights["gamma_FO" + suffix]  #? forward_output_norm
        self.beta_FO = weights["beta_FO" + suffix]  #? forward_output_norm shift

    def forward(self, X, memory):
        steps = {"input": X}
        N = {norm X gamma_A beta_A}  # N = norm(X), {norm}  #? norms_first
        N = X  #? !norms_first
        steps["normed"] = N  #? norms_first
        added, heads = self.attention(N, N)  # self-attention  #? !cross
        added, heads = self.attention(N, memory)  # cross-attention: keys and values come from the source  #? cross
        steps |= heads
        added = {norm added gamma_AO beta_AO}  # what is added is normed  #? output_norms
        A = X + added  # A = X + M W_O, the residual connection  #? residual
        A = added  # no residual connection: A = M W_O  #? !residual
        steps["summed"] = A
        A = {norm A gamma_A beta_A}  # A = norm(A), {norm}  #? norms_attended
        steps["attended"] = A  #? norms_attended
        Y = A  #? !feed_forward
        Z = {norm A gamma_F beta_F}  # Z = norm(A)  #? norms_forward sequential
        Z = {norm X gamma_F beta_F}  # Z = norm(X): the feed-forward part reads the block's input  #? norms_forward !sequential !one_norm
        Z = N  # the feed-forward part reads what attention reads  #? one_norm
        Z = A  #? feed_forward !norms_forward
        hidden = {phi}(Z @ self.W_1 + self.b_1)  # φ(Z W_1 + b_1), φ = {phi_name}  #? feed_forward forward_bias !gated
        hidden = {phi}(Z @ self.W_1)  # φ(Z W_1), φ = {phi_name}  #? feed_forward !forward_bias !gated
        hidden = {phi}(Z @ self.W_g + self.b_g) * (Z @ self.W_1 + self.b_1)  # φ(Z W_g + b_g) ⊙ (Z W_1 + b_1), φ = {phi_name}  #? forward_bias gated
        hidden = {phi}(Z @ self.W_g) * (Z @ self.W_1)  # φ(Z W_g) ⊙ Z W_1, φ = {phi_name}  #? !forward_bias gated
        steps["hidden"] = hidden  #? feed_forward
        Y = hidden @ self.W_2 + self.b_2  # F = hidden W_2 + b_2  #? feed_forward forward_bias
        Y = hidden @ self.W_2  # F = hidden W_2  #? feed_forward !forward_bias
        Y = {norm Y gamma_FO beta_FO}  # what is added is normed  #? forward_output_norm
        Y = A + Y  # Y = A + F  #? feed_forward residual
        Y = {norm Y gamma_F beta_F}  # Y = norm(Y), {norm}  #? forward_norm post
        return Y, steps | {"output": Y}
