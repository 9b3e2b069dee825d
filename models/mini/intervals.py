"""Shares with their uncertainty."""
import math

Z = 1.96  # 95 %


def wilson(right, n):
    """(share, low, high) of `right` out of n >= 1: the Wilson score interval."""
    p = right / n
    mid, half = (p + Z * Z / 2 / n) / (1 + Z * Z / n), Z * math.sqrt(p * (1 - p) / n + Z * Z / 4 / n / n) / (1 + Z * Z / n)
    return p, max(0.0, mid - half), min(1.0, mid + half)
