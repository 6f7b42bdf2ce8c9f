class Model(nn.Module):
    """The whole model: static vectors, blocks and answers."""

    def __init__(self):
        super().__init__()
        self.E = weights["E"]
        self.E.requires_grad_(False)  # these vectors stay as they are when the model is trained  #? frozen
        self.P = weights["P"]  #? learned
        self.P_S = weights["P_S"]  #? source_positions
        self.E_S = weights["E_S"]  #? segments
        self.gamma_E = weights["gamma_E"]  #? embedding_norm
        self.beta_E = weights["beta_E"]  #? embedding_norm shift
        self.gamma_ES = weights["gamma_ES"]  #? source_embedding_norm
        self.beta_ES = weights["beta_ES"]  #? source_embedding_norm shift
        self.gamma_S = weights["gamma_S"]  #? source_norm
        self.beta_S = weights["beta_S"]  #? source_norm shift
        self.source_blocks = nn.ModuleList([{source_blocks}])  #? source
        self.blocks = nn.ModuleList([{blocks}])
        self.gamma_Y = weights["gamma_Y"]  #? final_norm
        self.beta_Y = weights["beta_Y"]  #? final_norm shift
        self.W_T = weights["W_T"]  #? transformed
        self.b_T = weights["b_T"]  #? transform_bias
        self.gamma_T = weights["gamma_T"]  #? transformed
        self.beta_T = weights["beta_T"]  #? transformed shift
        self.W_logits = weights["W_logits"]  #? linear
        self.b_logits = weights["b_logits"]  #? readout_bias

    def through(self, blocks, X, memory, steps):
        """Sends X through the blocks, and notes what each computes: heads and blocks are counted from 0."""
        for block in blocks:
            b, h = (sum(name.startswith(kind) for name in steps) for kind in ("input[", "weights["))
            X, own = block(X, memory)
            for name, value in own.items():
                if value.dim() == 3:
                    steps |= {f"{name}[{h + i}]": head for i, head in enumerate(value)}
                else:
                    steps[f"{name}[block {b}]"] = value
        return X

    def forward(self, {arguments}):
        """Returns the logits, and every tensor on the way under the name that attune gives it."""
        steps, memory = {}, None
        E = self.E  #? !hidden_word
        E = torch.cat([self.E, torch.zeros(1, self.E.shape[1])])  # a hidden or unwritten word has the zero vector  #? hidden_word
{embed source} #? source
        memory = self.through(self.source_blocks, X, None, steps)  # what cross-attention reads  #? source
        memory = {norm memory gamma_S beta_S}  # {norm}  #? source_norm
        steps["output[source]"] = memory  #? source
{embed sentence}
        R = self.through(self.blocks, X, memory, steps)
        R = {norm R gamma_Y beta_Y}  # the last norm, {norm}  #? final_norm
        steps["output"] = R  # the contextual vectors
        R = R[-1:]  # the last word answers  #? last
        R = R.mean(0, keepdim=True)  # the mean of all words answers  #? mean
        R = {logit_scale} * R  #? logit_scale
        R = {phi}(R @ self.W_T + self.b_T)  # φ(R W_T + b_T)  #? transformed transform_bias
        R = {phi}(R @ self.W_T)  # φ(R W_T)  #? transformed !transform_bias
        R = {norm R gamma_T beta_T}  # norm(R), {norm}  #? transformed
        Z = R @ self.E.T  # Z = R Eᵀ: tied, a word is likely if the output is similar to its static vector  #? tied !some_words
        Z = R @ self.E[{candidates}].T  # Z = R E_Cᵀ, over the words that are answers  #? tied some_words
        Z = R @ self.W_logits  # Z = R W_logits  #? linear
        Z = Z + self.b_logits  # Z = Z + b_logits  #? readout_bias
        Z = {logit_cap} * torch.tanh(Z / {logit_cap})  # no logit is beyond ±c  #? logit_cap
        return Z, steps | {"logits": Z}
