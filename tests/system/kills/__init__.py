"""Processes killed and a card maltreated at random moments: what the tests beside this folder call, and commands."""
