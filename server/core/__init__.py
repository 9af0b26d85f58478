"""The parts of `Core`. Each holds something that Core opens, uses and closes."""
