-- What a list shows of a chat, beside its open turn.
ALTER TABLE chat ADD COLUMN active INTEGER;  -- when its last turn was opened
ALTER TABLE chat ADD COLUMN ended  TEXT;     -- how its last turn ended: finished, failed, stopped
ALTER TABLE chat ADD COLUMN title  TEXT;     -- the beginning of what was said first
-- By the last turn, and not by the last change: most appends leave the index alone.
CREATE INDEX chat_listed ON chat (owner, coalesce(active, opened), id);

-- What the owner says of a chat. Not derived from `entry`: making the indexes again leaves it.
CREATE TABLE label (
  chat     TEXT    NOT NULL PRIMARY KEY,
  title    TEXT,                             -- NULL: the chat's own
  archived INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Chats that were deleted for good: none is opened under their ids again.
CREATE TABLE tombstone (
  chat  TEXT    NOT NULL PRIMARY KEY,
  owner TEXT    NOT NULL,
  at    INTEGER NOT NULL
) STRICT;
