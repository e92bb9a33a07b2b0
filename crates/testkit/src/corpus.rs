//! Good and bad streams, each with the verdict of the real clients, played to the checker.

use std::cmp::Ordering;
use std::path::Path;

use crate::checker::{Checker, Finding, Kind};
use serde::Deserialize;
use serde_json::{Map, Value};
use wire::Message;
use wire::assembler::Sdk;

/// One stream of the corpus.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Stream {
    /// Its name, unique.
    pub name: String,
    /// What it shows.
    pub why: String,
    /// Tools that the page runs as soon as they are called, with their outputs.
    #[serde(default)]
    pub client_tools: Map<String, Value>,
    /// The windows in order.
    pub windows: Vec<Window>,
    /// What the person does between them.
    #[serde(default)]
    pub acts: Vec<Act>,
    /// What the real clients make of it.
    pub expect: Expect,
}

/// One window.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Whether it answers a page that asked to resume, and not a request.
    #[serde(default)]
    pub resume: bool,
    /// Its chunks.
    #[serde(default)]
    pub chunks: Vec<Value>,
    /// Its bytes, in place of chunks.
    pub raw: Option<String>,
}

/// What a person or a page does when a window has ended.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Act {
    /// After which window.
    pub after: usize,
    /// Approves.
    pub approve: Option<String>,
    /// Denies.
    pub deny: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// Types.
    pub say: Option<String>,
    /// Gives a call's output.
    pub output: Option<Output>,
    /// Says that a call failed.
    pub output_error: Option<OutputError>,
}

/// A call's output.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The call.
    pub tool_call_id: String,
    /// Its output.
    pub output: Value,
}

/// A call's failure.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutputError {
    /// The call.
    pub tool_call_id: String,
    /// Why.
    pub error_text: String,
}

/// The verdicts of both majors.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Where they agree.
    pub both: Option<Verdict>,
    /// Of `ai@6`.
    #[serde(rename = "6")]
    pub v6: Option<Verdict>,
    /// Of `ai@7`.
    #[serde(rename = "7")]
    pub v7: Option<Verdict>,
}

/// What a client makes of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// `ok`, `throws`, `loops` or `stuck`.
    pub outcome: String,
    /// Why it throws.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it shows wrongly, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrong: Vec<String>,
}

impl Stream {
    /// What the real client of a major makes of it.
    pub fn expected(&self, sdk: Sdk) -> &Verdict {
        let own = match sdk {
            Sdk::V6 => &self.expect.v6,
            Sdk::V7 => &self.expect.v7,
        };
        let verdict = own.as_ref().or(self.expect.both.as_ref());
        verdict.expect("every stream has a verdict for both majors")
    }

    /// Plays the stream to the checker: its verdict, its findings and the messages at the end.
    pub fn play(&self, sdk: Sdk) -> (Verdict, Vec<Finding>, Vec<Message>) {
        let mut checker = Checker::new(sdk);
        for (name, output) in &self.client_tools {
            checker = checker.client_tool(name, Some(output.clone()));
        }
        checker.say("hi");
        for (index, window) in self.windows.iter().enumerate() {
            if window.resume {
                checker.resume();
            } else if checker.is_waiting() {
                checker.open();
            } else {
                break;
            }
            match &window.raw {
                Some(raw) => checker.feed_sse(raw.as_bytes()),
                None => window
                    .chunks
                    .iter()
                    .for_each(|chunk| checker.feed_json(chunk.clone())),
            }
            checker.close();
            for act in self.acts.iter().filter(|act| act.after == index) {
                act.perform(&mut checker);
            }
        }
        let findings = checker.verdict();
        let windows = self.windows.iter().filter(|window| !window.resume).count();
        let verdict = verdict(&findings, checker.requests().cmp(&windows));
        (verdict, findings, checker.messages().to_vec())
    }
}

impl Act {
    fn perform(&self, checker: &mut Checker) {
        if let Some(id) = &self.approve {
            checker.answer(id, true, self.reason.as_deref());
        }
        if let Some(id) = &self.deny {
            checker.answer(id, false, self.reason.as_deref());
        }
        if let Some(output) = &self.output {
            checker.output(&output.tool_call_id, Ok(output.output.clone()));
        }
        if let Some(error) = &self.output_error {
            checker.output(&error.tool_call_id, Err(error.error_text.clone()));
        }
        if let Some(text) = &self.say {
            checker.say(text);
        }
    }
}

/// Findings in the words of the corpus, with whether fewer or more requests came than it has
/// windows for. The strict releases have no verdict there: the corpus is
/// measured on the newest ones.
fn verdict(findings: &[Finding], requests: Ordering) -> Verdict {
    let find = |kind| findings.iter().find(|finding| finding.kind == kind);
    if let Some(finding) = find(Kind::Throws) {
        let reason = &finding.reason;
        let reason = reason
            .split_once("schema: ")
            .map_or(reason.as_str(), |_| "schema");
        return Verdict {
            outcome: "throws".to_owned(),
            reason: Some(reason.to_owned()),
            wrong: Vec::new(),
        };
    }
    let outcome = match requests {
        Ordering::Less => "stuck",
        Ordering::Equal => "ok",
        Ordering::Greater => "loops",
    };
    let shown = [
        Kind::Invalid,
        Kind::PartTwice,
        Kind::Split,
        Kind::StateBack,
        Kind::Unfinished,
    ];
    let wrong = shown.into_iter().filter(|kind| find(*kind).is_some());
    Verdict {
        outcome: outcome.to_owned(),
        reason: None,
        wrong: wrong.map(|kind| kind.name().to_owned()).collect(),
    }
}

/// All streams of a folder, in the order of their files' names.
pub fn load(folder: &Path) -> Vec<Stream> {
    let files = std::fs::read_dir(folder).expect("the corpus folder can be read");
    let files = files.map(|file| file.expect("the corpus folder can be read").path());
    let mut files: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    files.sort();
    let read = |path: &std::path::PathBuf| -> Vec<Stream> {
        let bytes = std::fs::read(path).expect("a corpus file can be read");
        serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    files.iter().flat_map(read).collect()
}
