//! Gemini's contents as the history of a step request.

use gemini::{Content, Data, FunctionCall, FunctionResponse, Role};
use serde_json::{Value, json};
use turn::CallId;
use turn::agent::{CallResult, HistoryItem, Part};
use turn::call::{Call, Outcome, Place};
use turn::message::{self, Message};

use super::outcome::{of, outcome};

/// The history of a step request.
///
/// - Everything that the model says until the user speaks is one step, in however many contents it is.
/// - The response of a call belongs to the call's step. Where something was said since, it opens a
///   turn of its own: the call continued by itself.
/// - A call of the last step that has no response yet is pending.
pub(crate) fn history(contents: &[Content]) -> Vec<HistoryItem> {
    let mut builder = HistoryBuilder::default();
    for content in contents {
        if content.role == Some(Role::Model) {
            builder.model(content);
        } else {
            builder.user(content);
        }
    }
    builder.finish()
}

#[derive(Default)]
struct HistoryBuilder {
    history: Vec<HistoryItem>,
    calls: usize,
    messages: usize,
}

impl HistoryBuilder {
    fn model(&mut self, content: &Content) {
        if !matches!(self.history.last(), Some(HistoryItem::Step { results, .. }) if results.is_empty())
        {
            self.history.push(HistoryItem::Step {
                parts: Vec::new(),
                results: Vec::new(),
            });
        }
        for part in &content.parts {
            let item = match &part.data {
                Data::Text(text) if part.is_thought() => Part::Reasoning {
                    text: text.clone(),
                    provider_metadata: None,
                },
                Data::Text(text) => Part::Text {
                    text: text.clone(),
                    provider_metadata: None,
                },
                Data::FunctionCall(call) => Part::Call {
                    call: self.call(call),
                    held: false,
                    open: false,
                },
                _ => continue,
            };
            if let Some(HistoryItem::Step { parts, .. }) = self.history.last_mut() {
                parts.push(item);
            }
        }
    }

    fn call(&mut self, call: &FunctionCall) -> Call {
        self.calls += 1;
        Call {
            id: CallId::from(format!("call_{}", self.calls)),
            provider_id: call.id.clone(),
            tool: call.name.clone().unwrap_or_default(),
            input: Value::Object(call.args.clone().unwrap_or_default()),
            place: Place::Server,
            parent: None,
            provider_metadata: None,
        }
    }

    fn user(&mut self, content: &Content) {
        let mut said = Vec::new();
        for part in &content.parts {
            match &part.data {
                Data::FunctionResponse(response) => self.response(response),
                Data::Text(text) => match said.last_mut() {
                    // Some clients send messages that follow each other as one content.
                    Some(message::Part::Text { text: lines, .. }) => {
                        lines.push('\n');
                        lines.push_str(text);
                    }
                    _ => said.push(message::Part::text(text)),
                },
                Data::InlineData(blob) => said.extend(file(
                    blob.mime_type.as_deref(),
                    format!(
                        "data:{};base64,{}",
                        blob.mime_type.as_deref().unwrap_or_default(),
                        blob.data.as_deref().unwrap_or_default()
                    ),
                )),
                Data::FileData(data) => {
                    let uri = data.file_uri.clone().unwrap_or_default();
                    said.extend(file(data.mime_type.as_deref(), uri));
                }
                _ => {}
            }
        }
        if let [message::Part::Text { text, .. }] = said.as_slice()
            && let Some(result) = self.late_result(text)
        {
            self.history.push(result);
        } else if !said.is_empty() {
            self.messages += 1;
            let id = format!("message_{}", self.messages);
            let message = Message::new(id, said);
            self.history.push(HistoryItem::Message(message));
        }
    }

    fn response(&mut self, response: &FunctionResponse) {
        let Some((at, call)) = self.asked(response) else {
            return;
        };
        let (outcome, edited_input) = outcome(response);
        let is_last = at + 1 == self.history.len();
        match self.history.get_mut(at) {
            Some(HistoryItem::Step { results, .. }) if is_last => {
                results.retain(|result| result.call.id != call.id);
                results.push(CallResult {
                    call,
                    edited_input,
                    outcome,
                });
            }
            // It continues in the background, without an outcome yet.
            _ if matches!(outcome, Outcome::Pending { .. }) => {}
            _ => self.history.push(HistoryItem::Result { call, outcome }),
        }
    }

    /// The result of a call that continued in the background. Its response was sent when it began, and Google
    /// takes no second one, so our own client sends it as text (`agents::gemini`).
    fn late_result(&mut self, text: &str) -> Option<HistoryItem> {
        let (tool, rest) = text
            .strip_prefix("(The result of the call ")?
            .split_once('(')?;
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let args = values.next()?.ok()?;
        let rest = rest.get(values.byte_offset()..)?;
        let result = rest.strip_prefix("), which went on by itself, is here: ")?;
        let fields = serde_json::from_str(result.strip_suffix(')')?).ok()?;
        let call = FunctionCall {
            name: Some(tool.to_owned()),
            args: args.as_object().cloned(),
            ..FunctionCall::default()
        };
        Some(HistoryItem::Result {
            call: self.call(&call),
            outcome: of(fields),
        })
    }

    /// The call that a response answers, and the step that contains it: by its id, or else the first
    /// of its name that nothing came of.
    fn asked(&self, response: &FunctionResponse) -> Option<(usize, Call)> {
        let steps = self.history.iter().enumerate().rev();
        let calls = steps.flat_map(|(at, past)| {
            let (parts, results) = match past {
                HistoryItem::Step { parts, results } => (parts.as_slice(), results.as_slice()),
                _ => (&[][..], &[][..]),
            };
            parts.iter().filter_map(move |part| match part {
                Part::Call { call, .. } => {
                    let settled = results.iter().any(|result| {
                        result.call.id == call.id
                            && !matches!(result.outcome, Outcome::Pending { .. })
                    });
                    Some((at, call, settled))
                }
                _ => None,
            })
        });
        let name = response.name.as_deref().unwrap_or_default();
        let found = |(_, call, settled): &(usize, &Call, bool)| match &response.id {
            Some(id) if call.provider_id.is_some() => call.provider_id.as_ref() == Some(id),
            _ => call.tool == name && !settled,
        };
        let mut calls = calls;
        calls.find(found).map(|(at, call, _)| (at, call.clone()))
    }

    fn finish(mut self) -> Vec<HistoryItem> {
        for past in &mut self.history {
            let HistoryItem::Step { parts, results } = past else {
                continue;
            };
            let settled = std::mem::take(results);
            for part in parts {
                let Part::Call { call, .. } = part else {
                    continue;
                };
                let result = settled.iter().find(|result| result.call.id == call.id);
                results.push(result.cloned().unwrap_or_else(|| CallResult {
                    call: call.clone(),
                    edited_input: None,
                    outcome: Outcome::Pending { output: json!({}) },
                }));
            }
        }
        self.history
    }
}

fn file(media_type: Option<&str>, url: String) -> Option<message::Part> {
    Some(message::Part::File(message::File {
        media_type: media_type?.to_owned(),
        url,
        ..message::File::default()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history_of(contents: Value) -> Vec<HistoryItem> {
        history(&serde_json::from_value::<Vec<Content>>(contents).unwrap())
    }

    fn user(text: &str) -> Value {
        json!({"role": "user", "parts": [{"text": text}]})
    }

    fn call(id: &str, tool: &str) -> Value {
        json!({"functionCall": {"id": id, "name": tool, "args": {"n": 1}}})
    }

    fn response(id: &str, tool: &str, output: &str) -> Value {
        json!({"functionResponse": {"id": id, "name": tool, "response": {"output": output}}})
    }

    fn outputs(past: &HistoryItem) -> Vec<Value> {
        let HistoryItem::Step { results, .. } = past else {
            panic!("{past:?} is no step");
        };
        let outputs = results.iter().map(|result| match &result.outcome {
            Outcome::Output { output } => output.clone(),
            Outcome::Pending { .. } => json!("pending"),
            other => panic!("{other:?}"),
        });
        outputs.collect()
    }

    #[test]
    fn what_the_model_says_in_chunks_is_one_step() {
        let history = history_of(json!([
            user("hi"),
            {"role": "model", "parts": [{"text": "think", "thought": true}]},
            {"role": "model", "parts": [{"text": "a"}]},
            {"role": "model", "parts": [call("1", "f"), call("2", "f")]},
            {"role": "user", "parts": [response("2", "f", "second"), response("1", "f", "first")]},
            {"role": "model", "parts": [{"text": "done"}]},
        ]));
        assert_eq!(history.len(), 3);
        assert!(matches!(&history[1], HistoryItem::Step { parts, .. } if parts.len() == 4));
        assert_eq!(outputs(&history[1]), ["first", "second"]);
    }

    #[test]
    fn without_ids_responses_come_in_order() {
        let call = json!({"functionCall": {"name": "f"}});
        let response =
            |output| json!({"functionResponse": {"name": "f", "response": {"output": output}}});
        let history = history_of(json!([
            user("hi"),
            {"role": "model", "parts": [call, call]},
            {"role": "user", "parts": [response("first"), response("second")]},
        ]));
        assert_eq!(outputs(&history[1]), ["first", "second"]);
    }

    #[test]
    fn a_response_that_comes_late_opens_a_turn() {
        let pending = json!({"functionResponse": {
            "id": "1", "name": "f", "response": {"output": {}}, "willContinue": true,
        }});
        let history = history_of(json!([
            user("hi"),
            {"role": "model", "parts": [call("1", "f"), call("2", "f")]},
            {"role": "user", "parts": [pending]},
            {"role": "user", "parts": [response("2", "f", "second")]},
            {"role": "model", "parts": [{"text": "the first goes on"}]},
            {"role": "user", "parts": [response("1", "f", "first")]},
        ]));
        assert_eq!(outputs(&history[1]), ["pending", "second"].map(Value::from));
        let last = history.last().unwrap();
        assert!(
            matches!(last, HistoryItem::Result { call, .. } if call.provider_id.as_deref() == Some("1"))
        );
    }

    #[test]
    fn messages_in_one_content_are_lines() {
        let texts = json!([{"text": "fail with rate limit"}, {"text": "How is Oslo?"}]);
        let history = history_of(json!([{"role": "user", "parts": texts}]));
        let [HistoryItem::Message(message)] = history.as_slice() else {
            panic!("{history:?}");
        };
        assert_eq!(message.text(), "fail with rate limit\nHow is Oslo?");
    }

    #[test]
    fn an_image_is_a_file() {
        let history = history_of(json!([{"role": "user", "parts": [
            {"text": "see"}, {"inline_data": {"mime_type": "image/png", "data": "AAAA"}},
        ]}]));
        let HistoryItem::Message(message) = &history[0] else {
            panic!("no message");
        };
        assert_eq!(message.text(), "see");
        assert!(
            matches!(&message.parts[1], message::Part::File(file) if file.url.ends_with("base64,AAAA"))
        );
    }

    #[test]
    fn a_late_result_in_words_is_known_again() {
        let text = r#"(The result of the call write_report({"topic":"tea (green)"}), which went on by itself, is here: {"output":{"report":"Tea."}})"#;
        let history = history_of(json!([user("hi"), user(text)]));
        let HistoryItem::Result { call, outcome } = &history[1] else {
            panic!("no result");
        };
        assert_eq!(call.tool, "write_report");
        assert_eq!(call.input["topic"], "tea (green)");
        let output = json!({"report": "Tea."});
        assert_eq!(outcome, &Outcome::Output { output });
        let plain = history_of(json!([user("(The result of the call is here)")]));
        assert!(matches!(plain[0], HistoryItem::Message(_)));
    }
}
