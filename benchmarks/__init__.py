"""The scripts behind the README's figures: each runs alone, and measures a peer in the same run."""
