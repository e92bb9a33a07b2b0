//! What a page says with a message beside it: tools that it declares, what the message waits for while a
//! turn is open, and fields that an agent may want.

use engine::SendOptions;
use serde_json::{Map, Value};
use turn::queue::Placement;

/// Takes what a page says out of the fields of its body, or says what is wrong with it.
pub(crate) fn options(fields: &mut Map<String, Value>) -> Result<SendOptions, &'static str> {
    let page_tools = fields.remove("tools").unwrap_or_default();
    let while_running = match fields.remove("whileRunning") {
        None | Some(Value::Null) => None,
        Some(chosen) => match chosen.as_str() {
            Some("interrupt") => None,
            Some("queue") => Some(Placement::Queue),
            Some("inject") => Some(Placement::Inject),
            _ => return Err("whileRunning: expected \"interrupt\", \"queue\" or \"inject\""),
        },
    };
    Ok(SendOptions {
        page_tools,
        body: std::mem::take(fields),
        while_running,
        ..SendOptions::default()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn message_interrupts_unless_its_page_says_otherwise() {
        let read = |body: Value| {
            let mut fields = body.as_object().cloned().unwrap_or_default();
            options(&mut fields).map(|options| options.while_running)
        };
        assert_eq!(read(json!({})), Ok(None));
        assert_eq!(read(json!({"whileRunning": null})), Ok(None));
        assert_eq!(read(json!({"whileRunning": "interrupt"})), Ok(None));
        let queue = json!({"whileRunning": "queue"});
        assert_eq!(read(queue), Ok(Some(Placement::Queue)));
        let inject = json!({"whileRunning": "inject"});
        assert_eq!(read(inject), Ok(Some(Placement::Inject)));
        assert!(read(json!({"whileRunning": "wait"})).is_err());
        assert!(read(json!({"whileRunning": 1})).is_err());
    }
}
