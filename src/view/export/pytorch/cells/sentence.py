tokens = {tokens}
ids = torch.tensor({token_ids})  # the row of E of each
rows = torch.tensor({token_rows})  # the row of P of each  #? given_rows
segments = torch.tensor({token_segments})  # the sentence of a pair that each belongs to  #? segments
source_tokens = {source_tokens}  #? source
source_ids = torch.tensor({source_token_ids})  #? source
source_rows = torch.tensor({source_token_rows})  #? source given_rows
words = {words}  # the vocabulary: the rows of E  #? words
classes = {classes}  # the answers: the columns of the logits  #? words
# The likeliest answer of each row: its column, its name and its probability.
answers = {answers}
never = {never}  # columns that are never chosen  #? never
# For each word, the word whose static vector is nearest by the cosine: both rows of E, and the cosine.  #? neighbours
neighbours = {neighbours}  #? neighbours
