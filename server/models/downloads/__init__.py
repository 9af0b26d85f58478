"""Downloads: in pieces, resumed after a crash, verified."""
