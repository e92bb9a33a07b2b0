-- The same tables as in SQLite, where their columns are explained; what differs says why.
-- Ids are compared by their bytes: every server, and every store, has them in the same order.

-- The truth. One row is one append, so that an append is all or nothing.
CREATE TABLE entry (
  chat   TEXT COLLATE "C" NOT NULL,
  seq    BIGINT NOT NULL,
  turn   TEXT,
  epoch  BIGINT NOT NULL DEFAULT 0,
  kind   TEXT NOT NULL,
  actor  TEXT NOT NULL,
  events TEXT NOT NULL,       -- JSON, as text: jsonb would reorder fields and refuse some characters
  at     BIGINT NOT NULL,
  PRIMARY KEY (chat, seq)
);

-- What can be looked up. All of it is derived from `entry` and can be made again from it.
CREATE TABLE chat (
  id       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  position BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY,  -- tells it from a later chat under its id
  owner    TEXT COLLATE "C" NOT NULL,
  opened   BIGINT NOT NULL,
  updated  BIGINT NOT NULL,
  seq      BIGINT NOT NULL,   -- of the last entry; whoever appends holds the lock on this row
  turn     TEXT,
  standing TEXT NOT NULL,     -- JSON
  running  BOOLEAN NOT NULL
-- Room in each page, so that an append rewrites its row in place and touches no index.
) WITH (fillfactor = 70);
CREATE INDEX chat_of_owner ON chat (owner);
CREATE INDEX chat_unfinished ON chat (id) WHERE turn IS NOT NULL;
CREATE INDEX chat_running ON chat (id) WHERE running;

CREATE TABLE call (
  id   TEXT COLLATE "C" NOT NULL CONSTRAINT call_id PRIMARY KEY,
  chat TEXT COLLATE "C" NOT NULL REFERENCES chat (id) ON DELETE CASCADE,
  call TEXT NOT NULL
);
CREATE INDEX call_in_chat ON call (chat);

CREATE TABLE gate (
  position  BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id        TEXT COLLATE "C" NOT NULL CONSTRAINT gate_id UNIQUE,
  chat      TEXT COLLATE "C" NOT NULL REFERENCES chat (id) ON DELETE CASCADE,
  turn      TEXT NOT NULL,
  owner     TEXT COLLATE "C" NOT NULL,
  call      TEXT COLLATE "C" NOT NULL,
  gate      TEXT NOT NULL,
  asked     BIGINT NOT NULL,
  expires   BIGINT,
  decision  TEXT,
  closed_by TEXT,
  closed_at BIGINT
);
CREATE INDEX gate_in_chat ON gate (chat);
CREATE INDEX gate_open ON gate (owner, asked) WHERE decision IS NULL;
CREATE INDEX gate_expiring ON gate (expires) WHERE decision IS NULL AND expires IS NOT NULL;

CREATE TABLE lease (
  chat    TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES chat (id) ON DELETE CASCADE,
  epoch   BIGINT NOT NULL,
  owner   TEXT COLLATE "C" NOT NULL,
  address TEXT NOT NULL,
  expires BIGINT NOT NULL
);
CREATE INDEX lease_of_owner ON lease (owner);
