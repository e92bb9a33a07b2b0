//! Calls, put together from the pieces in which they come.
//!
//! OpenAI sends the id and the name with the first piece of an index, and then the arguments. Others send
//! calls whole, repeat the id with every piece, give all calls the index 0, or give no index or no id.

use serde_json::{Map, Value};
use turn::agent::AgentEvent;

use super::super::PROVIDER;
use super::ToolCallPiece;
use super::extra;
use crate::model::tool_names::ToolNames;
use crate::model::{arguments, provider_metadata};

/// The calls of an answer.
#[derive(Debug, Default)]
pub(super) struct ToolCalls(Vec<Assembled>);

#[derive(Debug, Default)]
struct Assembled {
    /// The index under which its pieces come, as it was written.
    index: Option<String>,
    id: String,
    name: String,
    arguments: String,
    rest: Map<String, Value>,
}

impl ToolCalls {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes a piece in.
    pub(super) fn take(&mut self, piece: ToolCallPiece) {
        let index = piece.index.as_ref().filter(|index| !index.is_null());
        let index = index.map(Value::to_string);
        let id = piece.id.unwrap_or_default();
        let name = piece.function.name.unwrap_or_default();
        let more = match piece.function.arguments {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text,
            Some(whole) => whole.to_string(),
        };
        let same_index = |call: &&mut Assembled| call.index == index;
        let known = match &index {
            Some(_) => self.0.iter_mut().rev().find(same_index),
            // Without an index, what has no id of its own belongs to what came last.
            None => self.0.last_mut(),
        };
        let known = known.filter(|call| !call.is_over(&id, &name, &more));
        let call = match known {
            Some(call) => call,
            None => {
                self.0.push(Assembled {
                    index,
                    ..Assembled::default()
                });
                let Some(call) = self.0.last_mut() else {
                    return;
                };
                call
            }
        };
        if call.id.is_empty() {
            call.id = id;
        }
        if call.name != name && call.arguments.is_empty() {
            call.name.push_str(&name);
        }
        call.arguments.push_str(&more);
        extra::merge_fields(&mut call.rest, piece.rest);
        if !piece.function.rest.is_empty() {
            let function = Value::Object(piece.function.rest);
            let function = Map::from_iter([("function".to_owned(), function)]);
            extra::merge_fields(&mut call.rest, function);
        }
    }

    /// The calls, as events, in the order in which they began; what can't be called is left out. Where
    /// the model ran out of tokens, so are calls that are not whole.
    pub(super) fn events(self, names: &ToolNames, is_cut: bool) -> Vec<AgentEvent> {
        let calls = self.0.into_iter().filter(|call| !call.name.is_empty());
        let is_made = |call: &Assembled| !is_cut || arguments::is_whole(&call.arguments);
        calls
            .filter(is_made)
            .map(|call| AgentEvent::Call {
                provider_id: Some(call.id).filter(|id| !id.is_empty()),
                tool: names.ours(&call.name),
                input: arguments::read(&call.arguments),
                provider_metadata: provider_metadata::of(PROVIDER, call.rest),
            })
            .collect()
    }
}

impl Assembled {
    /// Whether a piece belongs to another call, though it comes in the place of this one.
    fn is_over(&self, id: &str, name: &str, more: &str) -> bool {
        let is_another = !id.is_empty() && !self.id.is_empty() && id != self.id;
        // Whole calls after each other under one index, with one id or none.
        let is_next = !name.is_empty() && !more.is_empty() && arguments::is_whole(&self.arguments);
        is_another || is_next
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn calls(pieces: Value) -> Vec<(Option<String>, String, Value)> {
        let mut calls = ToolCalls::default();
        for piece in pieces.as_array().unwrap() {
            calls.take(serde_json::from_value(piece.clone()).unwrap());
        }
        let events = calls.events(&ToolNames::default(), false).into_iter();
        events
            .map(|event| match event {
                AgentEvent::Call {
                    provider_id,
                    tool,
                    input,
                    ..
                } => (provider_id, tool, input),
                other => panic!("{other:?}"),
            })
            .collect()
    }

    fn call(id: &str, tool: &str, input: Value) -> (Option<String>, String, Value) {
        let id = Some(id.to_owned()).filter(|id| !id.is_empty());
        (id, tool.to_owned(), input)
    }

    #[test]
    fn pieces_of_parallel_calls_find_their_calls_by_index() {
        let pieces = json!([
            {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}},
            {"index": 1, "id": "b", "type": "function", "function": {"name": "g", "arguments": ""}},
            {"index": 0, "function": {"arguments": "{\"x\":"}},
            {"index": 1, "function": {"arguments": "{\"y\":2}"}},
            {"index": 0, "function": {"arguments": " 1}"}},
        ]);
        let wanted = [
            call("a", "f", json!({"x": 1})),
            call("b", "g", json!({"y": 2})),
        ];
        assert_eq!(calls(pieces), wanted);
    }

    #[test]
    fn whole_calls_are_separated_however_they_are_numbered() {
        let one = call("a", "f", json!({"x": 1}));
        let two = call("b", "f", json!({"x": 2}));
        for indexes in [
            json!([0, 1]),
            json!([0, 0]),
            json!([null, null]),
            json!(["0", "1"]),
        ] {
            let pieces = json!([
                {"index": indexes[0], "id": "a", "function": {"name": "f", "arguments": "{\"x\":1}"}},
                {"index": indexes[1], "id": "b", "function": {"name": "f", "arguments": {"x": 2}}},
            ]);
            assert_eq!(calls(pieces), [one.clone(), two.clone()], "{indexes}");
        }
    }

    #[test]
    fn calls_without_ids_and_with_the_same_id_are_calls_of_their_own() {
        for (first, second) in [("", ""), ("a", "a"), ("", "a")] {
            for index in [json!(null), json!(0)] {
                let pieces = json!([
                    {"index": index, "id": first, "function": {"name": "f", "arguments": "{}"}},
                    {"index": index, "id": second, "function": {"name": "g", "arguments": "{}"}},
                ]);
                let wanted = [call(first, "f", json!({})), call(second, "g", json!({}))];
                assert_eq!(calls(pieces), wanted, "{first} {second} {index}");
            }
        }
    }

    #[test]
    fn id_and_name_may_be_repeated_with_every_piece() {
        let pieces = json!([
            {"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}},
            {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{\"x\":"}},
            {"index": 0, "id": "a", "function": {"name": "f", "arguments": "1}"}},
        ]);
        assert_eq!(calls(pieces), [call("a", "f", json!({"x": 1}))]);
    }

    #[test]
    fn pieces_without_an_index_go_on_with_the_last_call() {
        let pieces = json!([
            {"id": "a", "function": {"name": "f"}},
            {"function": {"arguments": "{\"x\":"}},
            {"function": {"arguments": "1}"}},
            {"id": "b", "function": {"name": "g", "arguments": "{}"}},
        ]);
        let wanted = [call("a", "f", json!({"x": 1})), call("b", "g", json!({}))];
        assert_eq!(calls(pieces), wanted);
    }

    #[test]
    fn arguments_that_are_not_json_are_kept_as_they_came() {
        let pieces = json!([
            {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{\"x\": oops"}},
            {"index": 1, "id": "b", "function": {"arguments": "{}"}},
        ]);
        // The second has no name: nobody can call it.
        assert_eq!(calls(pieces), [call("a", "f", json!("{\"x\": oops"))]);
    }

    #[test]
    fn calls_that_the_token_limit_cut_are_not_made() {
        let mut calls = ToolCalls::default();
        for arguments in ["{\"x\": 1}", "{\"x\":"] {
            let piece = json!({"id": arguments, "function": {"name": "f", "arguments": arguments}});
            calls.take(serde_json::from_value(piece).unwrap());
        }
        assert_eq!(calls.events(&ToolNames::default(), true).len(), 1);
    }

    #[test]
    fn fields_that_nothing_here_reads_are_kept_with_the_call() {
        let mut calls = ToolCalls::default();
        let piece = json!({
            "index": 0, "id": "a", "type": "function",
            "function": {"name": "f", "arguments": "{}", "provider_specific_fields": {"s": "1"}},
            "extra_content": {"google": {"thought_signature": "s1gnature"}},
        });
        calls.take(serde_json::from_value(piece).unwrap());
        let events = calls.events(&ToolNames::default(), false);
        let Some(AgentEvent::Call {
            provider_metadata, ..
        }) = events.first()
        else {
            panic!("no call");
        };
        assert_eq!(
            *provider_metadata,
            Some(json!({"openai": {
                "extra_content": {"google": {"thought_signature": "s1gnature"}},
                "function": {"provider_specific_fields": {"s": "1"}},
            }}))
        );
    }
}
