"""Few-shot mining (paper 000): the few pairs there are → bi-encoder → margin → filters → cross-encoder → ranked pairs."""
