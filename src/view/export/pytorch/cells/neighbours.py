unit = functional.normalize(model.E.detach(), dim=1)
for word, nearest, cosine in neighbours:
    cosines = unit @ unit[word]  # cos(a, b) = a · b / (‖a‖ ‖b‖)
    cosines[word] = -1.0
    assert abs(float(cosines[nearest]) - cosine) <= TOLERANCE, f"the cosine of {words[word]} and {words[nearest]}"
    assert float(cosines.max()) - cosine <= TOLERANCE, f"{words[nearest]} is not nearest to {words[word]}"
print(f"{len(neighbours)} nearest words are attune's")
