//! Drives a turn: append, act, append.
//!
//! **Owns** time and tasks: tools, gates, timeouts, takeover, and the windows through which clients
//! watch.
//!
//! **Does not own** decisions (`turn`), bytes (`wire`), durability (`store`) or HTTP (`server`).
//!
//! Nothing stands here yet: the engine arrives with the turn.
