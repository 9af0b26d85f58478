"""What `moat COMMAND` can do: one file each, listed in server/cli.py."""
