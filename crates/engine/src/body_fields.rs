//! Fields that a page adds to the body of its request: those that the agent is to get are kept with the
//! message that they come with, so that every server sends the same, and sends it again.

use serde_json::{Map, Value, json};
use turn::metadata::{BODY, OURS};
use turn::refusal::{Refusal, RefusalCode};
use wire::{Message, Role};

/// How many bytes the fields of a message may have.
const MAX_BYTES: usize = 16 * 1024;

/// Notes the fields of these names at the message that is sent, if one is.
pub(crate) fn note(
    messages: &mut [Message],
    body: &Map<String, Value>,
    names: &[String],
) -> Result<(), Refusal> {
    if names.is_empty() {
        return Ok(());
    }
    let message = messages.last_mut();
    let Some(message) = message.filter(|message| message.role == Role::User) else {
        return Ok(());
    };
    // What a page writes there by itself counts for nothing.
    if let Some(ours) = message.metadata.as_mut().and_then(|all| all.get_mut(OURS))
        && let Some(ours) = ours.as_object_mut()
    {
        ours.shift_remove(BODY);
    }
    let fields = names.iter();
    let fields = fields.filter_map(|name| Some((name.clone(), body.get(name)?.clone())));
    let fields = Value::Object(fields.collect());
    if fields == json!({}) {
        return Ok(());
    }
    let refused = |why: &str| Err(Refusal::new(RefusalCode::BadRequest, why));
    if fields.to_string().len() > MAX_BYTES {
        return refused("the fields of the body beside the message are too large");
    }
    let Value::Object(metadata) = message.metadata.get_or_insert_with(|| json!({})) else {
        return refused("metadata: expected an object");
    };
    let ours = metadata.entry(OURS).or_insert_with(|| json!({}));
    let Value::Object(ours) = ours else {
        return refused("metadata: expected an object under adkStream");
    };
    ours.insert(BODY.to_owned(), fields);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(message: Value, body: &Value, names: &[&str]) -> Result<Value, RefusalCode> {
        let mut messages: Vec<Message> = serde_json::from_value(json!([message])).unwrap();
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let noted = note(&mut messages, body.as_object().unwrap(), &names);
        noted.map_err(|refusal| refusal.code)?;
        Ok(serde_json::to_value(&messages[0]).unwrap()["metadata"].clone())
    }

    fn said(role: &str, metadata: &Value) -> Value {
        json!({"id": "m", "role": role, "parts": [], "metadata": metadata})
    }

    #[test]
    fn fields_that_are_named_are_kept_with_the_message() {
        let body = json!({"model": "large", "webSearch": true, "secret": "s"});
        let own = json!({"mood": "good"});
        let kept = noted(said("user", &own), &body, &["model", "webSearch", "other"]);
        let fields = json!({"model": "large", "webSearch": true});
        assert_eq!(kept, Ok(json!({"mood": "good", OURS: {BODY: fields}})));
        // An answer to a question comes with no message.
        let kept = noted(said("assistant", &own), &body, &["model"]);
        assert_eq!(kept, Ok(own));
    }

    #[test]
    fn page_can_not_write_them_by_itself() {
        let forged = json!({OURS: {BODY: {"model": "forged"}, "path": 1}});
        let kept = noted(said("user", &forged), &json!({}), &["model"]);
        assert_eq!(kept, Ok(json!({OURS: {"path": 1}})));
    }

    #[test]
    fn message_is_as_it_was_sent_where_nothing_is_forwarded() {
        let own = json!({OURS: {BODY: 1}});
        let kept = noted(said("user", &own), &json!({"model": "large"}), &[]);
        assert_eq!(kept, Ok(own));
    }

    #[test]
    fn fields_have_a_limit_and_a_place() {
        let large = json!({"model": "x".repeat(MAX_BYTES)});
        let refused = Err(RefusalCode::BadRequest);
        assert_eq!(noted(said("user", &json!({})), &large, &["model"]), refused);
        let body = json!({"model": "large"});
        for wrong in [json!("text"), json!({OURS: 1})] {
            assert_eq!(noted(said("user", &wrong), &body, &["model"]), refused);
        }
    }
}
