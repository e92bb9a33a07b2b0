//! A Gemini on loopback: both APIs, scripted, with faults, for our tests and our users'.
//!
//! **Owns** the server side of Gemini's wire, and the faults that it shows on request.
//!
//! **Does not own** the types (`gemini`) nor a model: what it says comes from scenarios.
//!
//! Nothing stands here yet: the emulator arrives with the Gemini agents.
