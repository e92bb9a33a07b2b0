//! What tests share. Never a dependency of the product: a test of this crate says so.
//!
//! **Owns** the corpus of streams and how it is played to the [`Checker`], specimens of all
//! that the wire can say, generators of arbitrary chunks, messages and frames, the crash simulator,
//! the launcher of our programs, and PostgreSQL servers for tests.
//!
//! **Does not own** any behaviour of the product.
//!
//! # Layout
//!
//! - [`attack`]: hostile clients on raw sockets.
//! - [`checker`]: drives an assembler as the client would, and says what goes wrong.
//! - [`corpus`]: good and bad streams, each with the verdict of the real clients.
//! - [`specimen`]: every chunk, message and frame that the wire can emit, for the real schemas.
//! - [`journal`]: journals of real runs, every prefix of them judged.
//! - [`launcher`]: our programs as processes, without the settings of the environment.
//! - [`postgres`]: real PostgreSQL servers, in temporary folders.
//! - [`replay`]: sessions of real clients, played to the checker.
//! - [`scenario`]: the legacy bridge's scenarios, in the order of their dialect.
//! - [`simulator`]: servers that die and people who try again, in virtual time, judged.
//! - [`arbitrary`]: generators for property tests.
//!
//! The binary `specimens` prints these for the TypeScript tests, which own the real clients. The
//! binary `simulate` plays schedules of the simulator, and prints the schedule of a seed.

// The helpers here are called by tests, and stop them as tests stop.
#![allow(clippy::expect_used)]

/// For tests of crates that know no client, and yet look at what one is shown.
pub use view;

pub mod arbitrary;
pub mod attack;
pub mod checker;
pub mod corpus;
pub mod journal;
pub mod launcher;
pub mod postgres;
pub mod replay;
pub mod scenario;
pub mod simulator;
pub mod specimen;

pub use checker::Checker;
