"""Can this site work: what is declared against power, space, compatibility and its own rules; declared -> problems, pure."""
