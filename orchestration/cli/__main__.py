"""`python -m orchestration.cli` is `republish`."""

from orchestration.cli.main import run

if __name__ == "__main__":
    run()
