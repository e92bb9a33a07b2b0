//! What all models that answer over HTTP with a stream of events have in common.
//!
//! # Layout
//!
//! - [`Key`]: a key, which is never shown; `redactor`: words from outside, without it.
//! - `http`: one request, sent again while nothing has come; [`Retries`] says when, [`Timeouts`] for how
//!   long; `step`: the answer, read as agent events as it comes.
//! - `failure`: what went wrong, in codes; `api_error`: errors as two of the APIs write them.
//! - `history`: the parts of a history that every model gets in the same form; `outcome`: what became
//!   of calls; `data_url`: files; `schema`: schemas of tools; `tool_names` and `call_ids`: names and ids
//!   that an API accepts; `arguments`: the input of a call, which may not be JSON;
//!   `provider_metadata`: what goes back unchanged; `metadata`: tokens;
//!   `lenient`: fields that an answer is understood without.

pub(crate) mod api_error;
pub(crate) mod arguments;
pub(crate) mod call_ids;
pub(crate) mod data_url;
pub(crate) mod failure;
pub(crate) mod history;
pub(crate) mod http;
mod key;
mod lenient;
pub(crate) mod metadata;
pub(crate) mod outcome;
pub(crate) mod provider_metadata;
mod redactor;
mod retry;
pub(crate) mod schema;
pub(crate) mod step;
pub(crate) mod tool_names;

pub(crate) use self::failure::{Failure, Provider};
pub(crate) use self::http::{Endpoint, Http};
pub use self::key::Key;
pub(crate) use self::lenient::lenient;
pub(crate) use self::redactor::Redactor;
pub(crate) use self::retry::chance;
pub use self::retry::{Retries, Timeouts};
pub(crate) use self::step::Reading;
