"""Record batches as tensors: of numpy, TensorFlow and PyTorch, each imported where it is used."""
