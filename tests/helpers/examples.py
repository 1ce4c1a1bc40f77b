"""How many random examples a test gets: all in `make slow`, a share of them in `make test`."""

import hypothesis


def examples(count: int) -> int:
    """Scale this count by the profile's number of examples out of a hundred; at least five."""
    return max(5, count * hypothesis.settings().max_examples // 100)
