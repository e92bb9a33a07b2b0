//! Whether a chat is what it was when it was written, and comes to the end that it should.

use serde_json::{Value, json};

use super::person::Person;
use super::setup::Setup;

/// What is expected of a chat.
pub(super) struct Chat {
    pub(super) name: String,
    expected: Value,
}

impl Chat {
    pub(super) fn read(expected: &Value) -> Self {
        Self {
            name: expected["chat"].as_str().unwrap().to_owned(),
            expected: expected.clone(),
        }
    }

    /// The journal, as it was written.
    pub(super) fn journal(&self) -> String {
        self.expected["journal"].to_string()
    }

    /// What is not as it was. Of a turn that ran when its server was killed, or whose question has
    /// expired since, only the journal is: the server that opens it takes it over.
    pub(super) fn is_as_it_was(&self, person: &Person) -> Vec<String> {
        let expected = &self.expected;
        let mut problems: Vec<String> = self.has_journal(person).into_iter().collect();
        if expected.get("view").is_none() {
            return problems;
        }
        let mut compare = |what: &str, expected: &Value, found: Value| {
            if *expected != found {
                let name = &self.name;
                problems.push(format!("{name}: {what}:\n  {expected}\n  {found}"));
            }
        };
        let then = with_renamed_usage(expected["view"].clone());
        let view = known(person.view(), &then);
        compare("the chat", &then, view);
        let asked = expected["asked"].as_array().unwrap();
        let open = asked.iter().filter(|asked| asked.get("decision").is_none());
        compare("open", &open.cloned().collect(), json!(person.approvals()));
        compare("paid", &expected["paid"], json!(person.paid()));
        // A page that is loaded again is asked what waits, and nothing where nothing does.
        let resumed = person.resumed();
        let is_parked = expected["view"]["status"] == "parked";
        compare("resumes", &is_parked.into(), resumed.is_some().into());
        let resumed = resumed.unwrap_or_default();
        for asked in asked.iter().filter(|asked| asked.get("decision").is_none()) {
            let is_shown = resumed.contains(asked["approvalId"].as_str().unwrap());
            compare("asks again", &true.into(), is_shown.into());
        }
        let recording = person.get(&format!("/api/chat/{}/recording", self.name));
        let frames = recording["frames"].as_array().unwrap().last().unwrap();
        let last = &expected["journal"].as_array().unwrap().last().unwrap()["seq"];
        compare("recorded", last, frames["seq"].clone());
        for asked in asked {
            let id = asked["approvalId"].as_str().unwrap();
            compare(id, asked, person.get(&format!("/api/approvals/{id}")));
        }
        problems
    }

    /// Whether its journal begins with what was written.
    fn has_journal(&self, person: &Person) -> Option<String> {
        let (expected, found) = (
            self.expected["journal"].as_array().unwrap(),
            person.journal(),
        );
        let lacks = |(at, entry): &(usize, &Value)| found.get(*at) != Some(*entry);
        let (at, entry) = expected.iter().enumerate().find(lacks)?;
        let (name, found) = (&self.name, found.get(at).cloned().unwrap_or_default());
        Some(format!("{name}: journal:\n  {entry}\n  {found}"))
    }

    /// Does what is to be done, and says what is wrong with the end.
    pub(super) fn goes_on(&self, person: &Person) -> Vec<String> {
        for act in self.expected["then"].as_array().unwrap() {
            person.act(act);
        }
        let view = person.rests();
        let mut problems: Vec<String> = self.has_journal(person).into_iter().collect();
        let end = &self.expected["end"];
        let mut expect = |is_so: bool, what: &str, found: &Value| {
            if !is_so {
                let name = &self.name;
                problems.push(format!("{name}: {what}: {}\n  {found}", end[what]));
            }
        };
        expect(view["status"] == end["status"], "status", &view["status"]);
        let messages = view["messages"].as_array().unwrap();
        let parts = messages.last().unwrap()["parts"].as_array().unwrap();
        let texts = parts.iter().filter(|part| part["type"] == "text");
        let said: String = texts.filter_map(|part| part["text"].as_str()).collect();
        let says = end["says"].as_str().unwrap();
        expect(said.contains(says), "says", &json!(said));
        let calls = calls(parts);
        expect(are_so(&end["calls"], &calls), "calls", &json!(calls));
        let paid = json!(person.paid());
        expect(
            end.get("paid").is_none_or(|end| *end == paid),
            "paid",
            &paid,
        );
        let open = json!(person.approvals());
        let is_over = view["status"] != "parked" && view["status"] != "running";
        expect(!is_over || open == json!([]), "open", &open);
        problems
    }

    /// What is wrong with what an ADK server was asked in it, and has paid.
    pub(super) fn reached_adk(&self, setup: &Setup) -> Option<String> {
        let end = &self.expected["end"];
        let (runs, paid) = (setup.adk_runs(&self.name), setup.adk_payments(&self.name));
        let is_so = |what: &str, found: usize| end.get(what).is_none_or(|end| *end == found);
        let name = &self.name;
        let reached_adk = is_so("adkRuns", runs) && is_so("adkPayments", paid);
        (!reached_adk).then(|| format!("{name}: {end}: {runs} runs, {paid} payments"))
    }
}

/// The calls of a message: of each its tool, its state, and what came of it.
fn calls(parts: &[Value]) -> Vec<Value> {
    let tool = |part: &Value| {
        let kind = part["type"].as_str()?;
        match part["toolName"].as_str() {
            Some(name) => Some(name.to_owned()),
            None => kind.strip_prefix("tool-").map(str::to_owned),
        }
    };
    parts
        .iter()
        .filter_map(|part| {
            let came = part.get("output").or(part.get("errorText"));
            let came = came.map(Value::to_string).unwrap_or_default();
            Some(json!([tool(part)?, part["state"], came]))
        })
        .collect()
}

/// Whether calls are those that are expected: of what came of each, some words are.
fn are_so(expected: &Value, calls: &[Value]) -> bool {
    let expected = expected.as_array().unwrap();
    let is_so = |(expected, call): (&Value, &Value)| {
        let words = expected[2].as_str().unwrap();
        expected[0] == call[0]
            && expected[1] == call[1]
            && call[2].as_str().unwrap().contains(words)
    };
    expected.len() == calls.len() && expected.iter().zip(calls).all(is_so)
}

/// A chat with tokens under the names of the SDK, as later versions show them: 0.1 showed them as they are
/// in journals.
fn with_renamed_usage(mut view: Value) -> Value {
    for message in view["messages"].as_array_mut().unwrap() {
        let Some(usage) = message.pointer_mut("/metadata/usage") else {
            continue;
        };
        let count = |name: &str| usage[name].as_u64();
        let input = count("promptTokens").unwrap() + count("toolUsePromptTokens").unwrap_or(0);
        let completion = count("completionTokens").unwrap();
        let total = count("totalTokens").unwrap().max(input + completion);
        let (cached, reasoning) = (count("cachedTokens"), count("reasoningTokens"));
        *usage = json!({"inputTokens": input, "outputTokens": total - input, "totalTokens": total});
        if let Some(cached) = cached {
            usage["inputTokenDetails"] = json!({"cacheReadTokens": cached});
        }
        if let Some(reasoning) = reasoning {
            usage["outputTokenDetails"] = json!({"reasoningTokens": reasoning});
        }
    }
    view
}

/// An answer without the fields that a later version has added to it.
fn known(mut answer: Value, expected: &Value) -> Value {
    if let Value::Object(fields) = &mut answer {
        fields.retain(|name, _| expected.get(name).is_some());
    }
    answer
}
