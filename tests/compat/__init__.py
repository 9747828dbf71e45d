"""Tests against the libraries whose work this one does: TensorFlow, tfx-bsl, and Beam's own."""
