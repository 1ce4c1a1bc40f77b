"""Models and numbers: arrays in, arrays out; `learner.jobs` and `learner.worker` join them to rows."""
