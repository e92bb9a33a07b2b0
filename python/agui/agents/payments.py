"""What was paid, for the test to count: a line for each payment, in the file that PAYMENTS names."""

import os


def note(amount: int) -> None:
    with open(os.environ["PAYMENTS"], "a") as file:
        file.write(f"{amount}\n")
