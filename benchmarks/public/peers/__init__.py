"""What runs each peer, in a process and an environment of its own. Nothing here imports the project, but `allpairs`."""
