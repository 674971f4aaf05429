"""`python -m proctor`: the command line."""

from proctor.cli.main import main

if __name__ == "__main__":
    main()
