"""What a TFMD schema says about data: columns, Arrow types, tensors. No Beam, no TensorFlow."""
