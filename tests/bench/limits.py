"""Figures against their limits: a benchmark prints all of its figures, and fails at its end if one exceeded its limit or
is missing."""
import sys

failures = []


def share(what, value, limit, unit=""):
    """`0.42 of the limit of 10 ms`; a value above the limit makes `exit_with_result` fail."""
    described = f"{limit} {unit}".strip()
    if value > limit:
        failures.append(f"{what}: {value:.4g} {unit}".strip() + f", limit {described}")
    return f"{value / limit:.2f} of the limit of {described}"


def exit_with_result():
    if failures:
        sys.exit("failed:\n" + "\n".join(f"  {it}" for it in failures))
