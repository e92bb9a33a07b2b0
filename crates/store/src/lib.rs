//! The journal: the append-only record of a chat, on memory, SQLite or PostgreSQL.
//!
//! **Owns** durability and the one primitive `append(chat, expected_seq, entries) -> Ok | Conflict`.
//!
//! **Does not own** what an entry means: it stores what `turn` hands out and gives it back in order.
//!
//! Nothing stands here yet: the journal arrives with the turn.
