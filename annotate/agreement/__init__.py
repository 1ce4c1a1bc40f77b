"""How far raters agree: coefficients of agreement, their intervals, and what they mean, from counts alone."""
