"""Few-shot mining (paper 000): few pairs → bi-encoder → margin → filters → cross-encoder → ranked pairs."""
