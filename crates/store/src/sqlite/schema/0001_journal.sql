-- The truth. One row is one append, so that an append is all or nothing.
CREATE TABLE entry (
  chat   TEXT    NOT NULL,
  seq    INTEGER NOT NULL,            -- from 1, without gaps
  turn   TEXT,                        -- for people who read the table
  epoch  INTEGER NOT NULL DEFAULT 0,  -- of the lease under which it was appended; leases come later
  kind   TEXT    NOT NULL,            -- for people who read the table: the names of the events
  actor  TEXT    NOT NULL,
  events TEXT    NOT NULL,            -- JSON
  at     INTEGER NOT NULL,            -- milliseconds since 1970
  PRIMARY KEY (chat, seq)
) STRICT;
