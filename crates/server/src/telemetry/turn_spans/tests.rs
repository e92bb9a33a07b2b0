use serde_json::json;

use super::super::fact::Contents;
use super::*;

struct Played {
    turn: TurnSpans,
    spans: Vec<SpanData>,
}

fn traced() -> Traced {
    Traced {
        agent: "Ann's agent".to_owned(),
        kind: "openai".to_owned(),
        model: Some("gpt-x".to_owned()),
    }
}

fn facts(events: serde_json::Value) -> Vec<Fact> {
    let events: Vec<turn::Event> = serde_json::from_value(events).unwrap();
    Contents::Withheld.facts(&events)
}

impl Played {
    fn open() -> Self {
        let message = json!({"id": "m", "role": "user", "parts": []});
        let trace = "00-0000000000000000000000000000000a-0000000000000000-01";
        let opened = json!([{"event": "turn-opened", "turn": "t", "messageId": "a", "trace": trace,
            "cause": {"cause": "message", "message": message}}]);
        let mut opened = facts(opened);
        let mut turn = TurnSpans::open(&ChatId::from("c"), At(1000), &mut opened[0]).unwrap();
        let mut spans = Vec::new();
        let entry = Stored {
            at: At(1000),
            facts: opened,
            after: After::Running,
            request: None,
            traced: &traced(),
        };
        turn.take(entry, &mut spans);
        assert!(spans.is_empty());
        Self { turn, spans }
    }

    fn take(&mut self, at: u64, after: After, events: serde_json::Value) -> &mut Self {
        let entry = Stored {
            at: At(at),
            facts: facts(events),
            after,
            request: None,
            traced: &traced(),
        };
        self.turn.take(entry, &mut self.spans);
        self
    }

    /// Name, and milliseconds from its start to its end, and the type of its error.
    fn shown(&self) -> Vec<(String, u128, u128, String)> {
        let millis = |time: SystemTime| time.duration_since(UNIX_EPOCH).unwrap().as_millis();
        let shown = self.spans.iter().map(|span| {
            let error = span.attributes.iter();
            let mut error = error.filter(|pair| pair.key.as_str() == names::ERROR_TYPE);
            let error = error.next().map(|pair| pair.value.to_string());
            let is_error = matches!(span.status, Status::Error { .. });
            assert_eq!(is_error, error.is_some(), "{span:?}");
            let (from, to) = (millis(span.start_time), millis(span.end_time));
            (span.name.to_string(), from, to, error.unwrap_or_default())
        });
        shown.collect()
    }
}

fn expect(played: &Played, expected: &[(&str, u128, u128, &str)]) {
    let expected: Vec<_> = expected
        .iter()
        .map(|(name, from, to, error)| ((*name).to_owned(), *from, *to, (*error).to_owned()))
        .collect();
    assert_eq!(played.shown(), expected);
}

fn call(id: &str) -> serde_json::Value {
    json!({"part": "call", "id": id, "tool": "pay", "input": {}, "place": "server"})
}

fn step(parts: &[serde_json::Value]) -> serde_json::Value {
    json!({"event": "step-ended", "turn": "t", "parts": parts, "finish": "stop",
        "metadata": {"modelVersion": "gpt-x-2026"}})
}

fn gate(id: &str, call: &str) -> serde_json::Value {
    let kind = json!({"kind": "approval", "question": "Pay?"});
    json!({"event": "gate-opened", "turn": "t", "gate": {"id": id, "call": call, "kind": kind}})
}

fn event(name: &str, fields: serde_json::Value) -> serde_json::Value {
    let mut event = json!({"event": name, "turn": "t"});
    let all = event.as_object_mut().unwrap();
    all.extend(fields.as_object().unwrap().clone());
    event
}

const STRETCH: &str = "invoke_agent Ann's agent";

#[test]
fn agent_that_fails_before_it_has_said_anything_has_a_step() {
    let mut played = Played::open();
    let end = json!({"end": "failed", "code": "rate_limited", "message": "Too often."});
    played.take(1500, After::Over, json!([event("turn-ended", end)]));
    expect(
        &played,
        &[
            ("chat gpt-x", 1000, 1500, "rate_limited"),
            (STRETCH, 1000, 1500, "rate_limited"),
        ],
    );
}

#[test]
fn turn_that_waits_for_two_runs_when_both_have_answered() {
    let mut played = Played::open();
    let asked = json!([
        step(&[call("x"), call("y")]),
        gate("g", "x"),
        gate("h", "y")
    ]);
    played.take(2000, After::Parked, asked);
    let denied = json!([
        event("gate-closed", json!({"gate": "g", "decision": "denied"})),
        event("call-settled", json!({"call": "x", "outcome": "denied"})),
    ]);
    played.take(60_000, After::Parked, denied);
    let approved = json!([
        event("gate-closed", json!({"gate": "h", "decision": "approved"})),
        event("call-started", json!({"call": "y"})),
    ]);
    played.take(90_000, After::Running, approved);
    let lost = json!({"call": "y", "outcome": "unknown", "reason": "server-stopped"});
    played.take(95_000, After::Running, json!([event("call-settled", lost)]));
    let end = json!([step(&[]), event("turn-ended", json!({"end": "finished"}))]);
    played.take(96_000, After::Over, end);
    expect(
        &played,
        &[
            ("chat gpt-x", 1000, 2000, ""),
            (STRETCH, 1000, 2000, ""),
            // Nobody ran what was denied.
            ("await_approval pay", 2000, 60_000, ""),
            ("await_approval pay", 2000, 90_000, ""),
            ("execute_tool pay", 90_000, 95_000, "unknown_outcome"),
            ("chat gpt-x", 95_000, 96_000, ""),
            (STRETCH, 90_000, 96_000, ""),
        ],
    );
    let [first, last] = [1, 6].map(|place| &played.spans[place]);
    assert_eq!(last.links[0].span_context, first.span_context);
    assert_eq!(last.parent_span_id, first.span_context.span_id());
    let ids = played.spans.iter().map(|span| span.span_context.span_id());
    let ids: std::collections::HashSet<_> = ids.collect();
    assert_eq!(ids.len(), played.spans.len());
}

#[test]
fn step_that_is_run_again_after_a_restart_begins_there() {
    let mut played = Played::open();
    played.turn.resume(At(50_000));
    let end = json!([step(&[]), event("turn-ended", json!({"end": "finished"}))]);
    played.take(51_000, After::Over, end);
    expect(
        &played,
        &[
            ("chat gpt-x", 50_000, 51_000, ""),
            (STRETCH, 1000, 51_000, ""),
        ],
    );
    assert_eq!(played.spans[1].events[0].name, names::RESUMED);
}

#[test]
fn turn_that_is_taken_over_leaves_the_stretch_of_the_server_that_is_gone() {
    let mut played = Played::open();
    played.turn.resume(At(50_000));
    let claimed = json!([event("turn-claimed", json!({"epoch": 1, "by": "b"}))]);
    played.take(50_001, After::Running, claimed);
    let end = json!([step(&[]), event("turn-ended", json!({"end": "finished"}))]);
    played.take(51_000, After::Over, end);
    expect(
        &played,
        &[
            (STRETCH, 1000, 1000, "server_lost"),
            ("chat gpt-x", 50_001, 51_000, ""),
            (STRETCH, 50_001, 51_000, ""),
        ],
    );
}
