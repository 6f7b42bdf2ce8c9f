import base64
import copy  #? library
import math

import torch
from torch import nn
from torch.nn import functional

# The most by which a number may differ from attune's, as a share of the largest number of its tensor, or of 1.
TOLERANCE = {tolerance}


def tensors(shapes, text):
    """Returns named tensors from numbers of 4 bytes in Base64, which stand one after the other."""
    numbers = torch.frombuffer(bytearray(base64.b64decode(text)), dtype=torch.float32)
    sizes = [math.prod(shape) for shape in shapes.values()]
    return {name: part.reshape(shapes[name]).clone() for name, part in zip(shapes, numbers.split(sizes))}
