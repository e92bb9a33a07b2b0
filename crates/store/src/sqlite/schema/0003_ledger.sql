-- The demo's wallets.
CREATE TABLE wallet (
  principal TEXT    NOT NULL PRIMARY KEY,
  balance   INTEGER NOT NULL CHECK (balance >= 0)  -- cents
) STRICT;

CREATE TABLE payment (
  position       INTEGER PRIMARY KEY,
  principal      TEXT    NOT NULL REFERENCES wallet (principal),
  transaction_id TEXT    NOT NULL,
  call           TEXT    NOT NULL,
  recipient      TEXT    NOT NULL,
  cents          INTEGER NOT NULL,
  description    TEXT    NOT NULL,
  at             INTEGER NOT NULL,
  paid           INTEGER NOT NULL,    -- 1, or 0 if it was refused: asked again, it is refused again
  balance        INTEGER NOT NULL,    -- cents, after it
  UNIQUE (principal, transaction_id)
) STRICT;
