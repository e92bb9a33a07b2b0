//! Chats of pages that name none, as the pages of the legacy bridge do.

use serde_json::json;
use turn::Principal;
use wire::Message;

/// The chat of a page, by the first message of the history that it sends every time. Another page of the
/// same person has another, and nobody else's is the same.
pub(crate) fn of_page(principal: &Principal, messages: &[Message]) -> Option<String> {
    let first = messages.first()?.id.as_deref()?;
    let hash = turn::digest::hash(&json!([principal, first]));
    Some(format!("legacy_{}", &hash[..32]))
}
