-- What a list shows of a chat, beside its open turn. Servers of the version before leave the columns
-- empty: their chats are listed by the time at which they were opened.
ALTER TABLE chat ADD COLUMN active BIGINT;
ALTER TABLE chat ADD COLUMN ended  TEXT;
ALTER TABLE chat ADD COLUMN title  TEXT;
-- By the last turn, and not by the last change: most appends leave the index alone.
CREATE INDEX chat_listed ON chat (owner, (coalesce(active, opened)), id);

-- What the owner says of a chat. Not derived from `entry`.
CREATE TABLE label (
  chat     TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES chat (id) ON DELETE CASCADE,
  title    TEXT,
  archived BOOLEAN NOT NULL DEFAULT false
);

-- Chats that were deleted for good: none is opened under their ids again.
CREATE TABLE tombstone (
  chat  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  owner TEXT COLLATE "C" NOT NULL,
  at    BIGINT NOT NULL
);
