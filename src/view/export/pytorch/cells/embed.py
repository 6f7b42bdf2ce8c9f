        X = E[{ids}]  # a row of E for each word: (T, D)
        steps["E[{of}]"] = X
        X = {embedding_scale} * X  # the static vectors have a factor  #? embedding_scale
        X = X + self.{P}[{rows}]  # X = X + P, a learned row for each position  #? learned
        X = X + waves(len(X), X.shape[1])  # X = X + P, a row of waves for each position  #? sinusoidal
        X = X + self.E_S[segments]  # X = X + E_S, a row for the first and for the second sentence  #? segments
        steps["embedded{at}"] = X  #? embedding_norm
        X = {norm of embeddings}  # X = norm(X), {norm}  #? embedding_norm
        steps["X{at}"] = X
