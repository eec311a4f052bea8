"""`python -m republish` is `republish`."""

from republish.orchestration.cli.main import run

if __name__ == "__main__":
    run()
