"""The peers, one module each: what starts a peer, and what its pages send and read."""
