"""Jobs: durable workflows, the only place where database rows meet tensors."""
