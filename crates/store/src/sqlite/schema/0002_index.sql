-- What can be looked up. All of it is derived from `entry` and can be made again from it.
CREATE TABLE chat (
  id      TEXT    NOT NULL PRIMARY KEY,
  owner   TEXT    NOT NULL,
  opened  INTEGER NOT NULL,
  updated INTEGER NOT NULL,           -- in no index, since every append changes it
  turn    TEXT                        -- the last turn, until it ends
) STRICT;
CREATE INDEX chat_of_owner ON chat (owner);
CREATE INDEX chat_unfinished ON chat (id) WHERE turn IS NOT NULL;

CREATE TABLE call (
  id   TEXT NOT NULL PRIMARY KEY,
  chat TEXT NOT NULL REFERENCES chat (id) ON DELETE CASCADE,
  call TEXT NOT NULL                  -- JSON
) STRICT;
CREATE INDEX call_in_chat ON call (chat);

CREATE TABLE gate (
  position  INTEGER PRIMARY KEY,      -- the order of those asked in the same millisecond
  id        TEXT    NOT NULL UNIQUE,
  chat      TEXT    NOT NULL REFERENCES chat (id) ON DELETE CASCADE,
  turn      TEXT    NOT NULL,
  owner     TEXT    NOT NULL,         -- of the chat, so that a list of open gates is one range
  call      TEXT    NOT NULL,
  gate      TEXT    NOT NULL,         -- JSON
  asked     INTEGER NOT NULL,
  expires   INTEGER,
  decision  TEXT,                     -- JSON; NULL as long as the gate is open
  closed_by TEXT,
  closed_at INTEGER
) STRICT;
CREATE INDEX gate_in_chat ON gate (chat);
-- Open gates are few among many that were closed: these two stay small.
CREATE INDEX gate_open ON gate (owner, asked) WHERE decision IS NULL;
CREATE INDEX gate_expiring ON gate (expires) WHERE decision IS NULL AND expires IS NOT NULL;
