//! What the demo says, in the language of the prompt.

mod english;
mod japanese;
mod settled;

pub(super) use settled::Settled;

use serde_json::Value;

use super::intent::Question;
use super::understand::Language;

/// One language's words.
macro_rules! in_language {
    ($language:expr, $function:ident($($argument:expr),*)) => {
        match $language {
            Language::English => english::$function($($argument),*),
            Language::Japanese => japanese::$function($($argument),*),
        }
    };
}

/// What it thinks before it makes these calls.
pub(super) fn thought(
    language: Language,
    calls: &[(&str, Value)],
    is_first: bool,
    more_follow: bool,
) -> String {
    in_language!(language, thought(calls, is_first, more_follow))
}

/// What became of the calls of a turn, which tools are missing, and what is asked back.
pub(super) fn answer(
    language: Language,
    settled: &[Settled<'_>],
    questions: &[Question],
    absent: &[&str],
) -> String {
    let mut said = vec![in_language!(language, outcomes(settled))];
    if !absent.is_empty() {
        said.push(in_language!(language, without_tools(absent)));
    }
    for question in questions {
        said.push(in_language!(language, question(question)));
    }
    said.retain(|said| !said.is_empty());
    said.join(match language {
        Language::English => " ",
        Language::Japanese => "",
    })
}

/// What became of a call that went on by itself.
pub(super) fn returned(language: Language, settled: &Settled<'_>) -> String {
    in_language!(language, returned(settled))
}

/// What it says where nothing is asked of it that it knows.
pub(super) fn echo(language: Language, prompt: &str, tools: &[&str]) -> String {
    in_language!(language, echo(prompt.trim(), tools))
}
