"""How alike two texts are spelled: a cheap second opinion beside the encoder, and worth most before it is trained."""
