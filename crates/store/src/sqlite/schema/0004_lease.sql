-- How the last turn stands, so that one which waits for people is told from one that nobody runs.
ALTER TABLE chat ADD COLUMN standing TEXT NOT NULL DEFAULT '{}';       -- JSON
ALTER TABLE chat ADD COLUMN running  INTEGER NOT NULL DEFAULT 0;       -- 1 if somebody has to go on
-- Few run at any time, however many wait.
CREATE INDEX chat_running ON chat (id) WHERE running = 1;

-- A hint of life and where to find the owner, never the fence: that is the journal.
CREATE TABLE lease (
  chat    TEXT    NOT NULL PRIMARY KEY REFERENCES chat (id) ON DELETE CASCADE,
  epoch   INTEGER NOT NULL,
  owner   TEXT    NOT NULL,           -- a server
  address TEXT    NOT NULL,
  expires INTEGER NOT NULL
) STRICT;
CREATE INDEX lease_of_owner ON lease (owner);
