"""What `moat COMMAND` can do: a file each, listed in server/cli.py, and what two of them show."""
