//! Scripts: rules, each with a moment and a fault.
//!
//! The form is described for people in docs/emulator.md.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Error;

/// What the emulator does instead of answering as usual.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Script {
    /// The transcripts of speech, one after the other; the last one is repeated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub utterances: Vec<String>,
    /// The rules. At a moment, the first that matches is followed, and no other.
    #[serde(default)]
    pub rules: Vec<Rule>,
}

/// A moment at which a rule can be followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Moment {
    /// A request to generateContent or streamGenerateContent.
    Generate,
    /// The setup of a live session.
    Connect,
    /// The model of a live session is about to answer an input or function responses.
    Answer,
}

/// When to do otherwise, and what.
///
/// Every field is optional: a rule without a moment is followed at `generate` and at `answer`,
/// and one without anything else lets all be as it would.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Rule {
    /// At which moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on: Option<Moment>,
    /// Only at the n-th such moment since the script was set, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nth: Option<u64>,
    /// Only where the last user message or function response contains this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contains: Option<String>,
    /// How often; always by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<u64>,

    /// Answers with these chunks or frames; a string is sent verbatim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub respond: Option<Vec<Value>>,
    /// Waits before it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
    /// Waits between chunks or frames.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pace_ms: Option<u64>,
    /// Sends something that is no JSON, after this many chunks or frames, and continues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub malformed: Option<After>,
    /// Cuts the connection without a close frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,

    /// generate: refuses with a status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Failure>,
    /// generate: fails in the middle of the stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// generate: blocks the prompt, for this reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<String>,
    /// generate: stops in the middle, for this reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish: Option<Finish>,
    /// generate: sends no chunk at all.
    #[serde(skip_serializing_if = "is_false")]
    pub empty: bool,
    /// generate: gives no thought signatures.
    #[serde(skip_serializing_if = "is_false")]
    pub without_signatures: bool,

    /// connect, answer: closes the socket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub close: Option<Close>,
    /// connect, answer: announces that the connection will be closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub go_away: Option<GoAway>,
    /// connect: does not know the handle.
    #[serde(skip_serializing_if = "is_false")]
    pub refuse_handle: bool,
    /// answer: is interrupted, after this many frames.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interrupt: Option<After>,
    /// answer: takes its calls back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancel_calls: Option<CancelCalls>,
}

/// After this many chunks or frames of the answer; at once by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct After {
    /// How many.
    pub after: u64,
}

/// Where to cut a connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Cut {
    /// After this many chunks or frames.
    pub after: u64,
    /// generate: after this many bytes of the body, in place of chunks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_bytes: Option<u64>,
}

/// An error, in Google's form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Failure {
    /// The HTTP status.
    pub code: u16,
    /// The message; Google's usual one by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// When to try again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<u64>,
    /// `error`: after this many chunks.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub after: u64,
}

/// An end in the middle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Finish {
    /// Why, such as `SAFETY` or `MAX_TOKENS`.
    pub reason: String,
    /// After this many chunks.
    #[serde(default)]
    pub after: u64,
}

/// The end of a socket.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Close {
    /// The code, such as 1007, 1008 or 1011.
    pub code: u16,
    /// Why.
    #[serde(default)]
    pub reason: String,
    /// `answer`: after this many frames.
    #[serde(default)]
    pub after: u64,
}

/// A warning that a connection will be closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GoAway {
    /// The remaining time that is announced.
    pub time_left_seconds: u64,
    /// `answer`: after this many frames.
    #[serde(default)]
    pub after: u64,
    /// Closes so long afterwards; else the client is left to do it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub close_after_ms: Option<u64>,
}

/// When calls are taken back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct CancelCalls {
    /// So long after they were made.
    pub after_ms: u64,
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_zero(value: &u64) -> bool {
    *value == 0
}

impl Script {
    /// Reads a script; the error names what is wrong.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        let script: Self =
            serde_json::from_str(text).map_err(|error| Error::Script(error.to_string()))?;
        script.check()?;
        Ok(script)
    }

    /// Whether each rule is valid at its moment.
    pub(crate) fn check(&self) -> Result<(), Error> {
        for (index, rule) in self.rules.iter().enumerate() {
            let problem = |problem| Error::Script(format!("rules[{index}]: {problem}"));
            rule.check().map_err(problem)?;
        }
        Ok(())
    }
}

impl From<Rule> for Script {
    fn from(rule: Rule) -> Self {
        Self {
            rules: vec![rule],
            ..Self::default()
        }
    }
}

impl Rule {
    /// A rule for a moment.
    pub fn on(moment: Moment) -> Self {
        Self {
            on: Some(moment),
            ..Self::default()
        }
    }

    /// The actions in use, with the moments at which they are valid.
    fn deeds(&self) -> [(&'static str, bool, &'static [Moment]); 16] {
        use Moment::{Answer, Connect, Generate};
        const EVERYWHERE: &[Moment] = &[Generate, Connect, Answer];
        const SPEAKING: &[Moment] = &[Generate, Answer];
        const SOCKETS: &[Moment] = &[Connect, Answer];
        [
            ("respond", self.respond.is_some(), EVERYWHERE),
            ("delayMs", self.delay_ms.is_some(), EVERYWHERE),
            ("paceMs", self.pace_ms.is_some(), SPEAKING),
            ("malformed", self.malformed.is_some(), SPEAKING),
            ("cut", self.cut.is_some(), EVERYWHERE),
            ("status", self.status.is_some(), &[Generate]),
            ("error", self.error.is_some(), &[Generate]),
            ("block", self.block.is_some(), &[Generate]),
            ("finish", self.finish.is_some(), &[Generate]),
            ("empty", self.empty, &[Generate]),
            ("withoutSignatures", self.without_signatures, &[Generate]),
            ("close", self.close.is_some(), SOCKETS),
            ("goAway", self.go_away.is_some(), SOCKETS),
            ("refuseHandle", self.refuse_handle, &[Connect]),
            ("interrupt", self.interrupt.is_some(), &[Answer]),
            ("cancelCalls", self.cancel_calls.is_some(), &[Answer]),
        ]
    }

    fn check(&self) -> Result<(), String> {
        let moments: &[Moment] = match &self.on {
            Some(moment) => std::slice::from_ref(moment),
            None => &[Moment::Generate, Moment::Answer],
        };
        let name = |moment: &Moment| match moment {
            Moment::Generate => "generate",
            Moment::Connect => "connect",
            Moment::Answer => "answer",
        };
        for (key, is_used, known) in self.deeds() {
            let stranger = moments.iter().find(|moment| !known.contains(moment));
            if let (true, Some(moment)) = (is_used, stranger) {
                let known: Vec<_> = known.iter().map(name).collect();
                return Err(format!(
                    "`{key}` means nothing on `{}`; say \"on\": \"{}\"",
                    name(moment),
                    known.join("\" or \"")
                ));
            }
        }
        if self.nth == Some(0) {
            return Err("`nth` counts from 1".to_owned());
        }
        if let Some(close) = &self.close
            && !matches!(close.code, 1000..=1003 | 1007..=1014 | 3000..=4999)
        {
            return Err(format!("{} is no code that can be sent", close.code));
        }
        let failures = self.status.iter().chain(&self.error);
        for failure in failures {
            if !(400..=599).contains(&failure.code) {
                return Err(format!("{} is no status of an error", failure.code));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        Script::from_json(text).unwrap_err().to_string()
    }

    #[test]
    fn a_script_is_read_and_written_alike() {
        let text = r#"{"utterances":["Hi"],"rules":[{"on":"generate","nth":2,"times":1,"status":{"code":429,"retryAfterSeconds":17}}]}"#;
        let script = Script::from_json(text).unwrap();
        assert_eq!(serde_json::to_string(&script).unwrap(), text);
    }

    #[test]
    fn a_mistake_is_named() {
        for (text, words) in [
            (r#"{"rulez":[]}"#, "unknown field `rulez`"),
            (
                r#"{"rules":[{"statuz":500}]}"#,
                "unknown field `statuz`, expected one of `on`",
            ),
            (
                r#"{"rules":[{"on":"speak"}]}"#,
                "unknown variant `speak`, expected one of `generate`, `connect`, `answer`",
            ),
            (
                r#"{"rules":[{"cut":{"afterChunks":2}}]}"#,
                "unknown field `afterChunks`, expected `after` or `afterBytes`",
            ),
            (
                r#"{"rules":[{},{"on":"connect","status":{"code":500}}]}"#,
                "rules[1]: `status` means nothing on `connect`; say \"on\": \"generate\"",
            ),
            (
                r#"{"rules":[{"close":{"code":1011}}]}"#,
                "rules[0]: `close` means nothing on `generate`; say \"on\": \"connect\" or \"answer\"",
            ),
            (
                r#"{"rules":[{"on":"answer","close":{"code":1005}}]}"#,
                "rules[0]: 1005 is no code that can be sent",
            ),
            (
                r#"{"rules":[{"on":"generate","status":{"code":200}}]}"#,
                "rules[0]: 200 is no status of an error",
            ),
            (r#"{"rules":[{"nth":0}]}"#, "rules[0]: `nth` counts from 1"),
        ] {
            let problem = problem(text);
            assert!(problem.contains(words), "{text}: {problem}");
        }
    }
}
