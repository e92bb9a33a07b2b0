-- How many turns of an owner have not ended: quotas ask.
CREATE INDEX chat_open ON chat (owner) WHERE turn IS NOT NULL;

-- What was used and may not be used again, until it expires.
CREATE TABLE nonce (
  id      TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  expires BIGINT NOT NULL
);
CREATE INDEX nonce_expiring ON nonce (expires);

-- One row, written to see whether the database can be written to.
CREATE TABLE probe (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  at BIGINT NOT NULL
);
