"""The jobs: durable workflows, the only place where rows meet tensors."""
