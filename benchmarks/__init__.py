"""Where the README's figures come from: each script runs alone, and compares with a peer in the same run."""
