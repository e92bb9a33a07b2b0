//! What an operator may say of Gemini, as text.

use std::str::FromStr;

use gemini::{SafetySetting, ThinkingConfig};
use turn::agent::Behavior;

/// Whether Gemini Live waits for calls; as each tool says, if nothing is said.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LiveTools(pub(crate) Option<Behavior>);

impl FromStr for LiveTools {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "blocking" => Ok(Self(Some(Behavior::Blocking))),
            "non-blocking" => Ok(Self(Some(Behavior::NonBlocking))),
            _ => Err(format!("`{text}` is neither blocking nor non-blocking")),
        }
    }
}

/// How Gemini thinks: by default in its own way, with its thoughts in the answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Thinking(pub(crate) Option<ThinkingConfig>);

impl Default for Thinking {
    fn default() -> Self {
        Self(Some(ThinkingConfig {
            include_thoughts: Some(true),
            ..ThinkingConfig::default()
        }))
    }
}

impl FromStr for Thinking {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let shown = Self::default().0.unwrap_or_default();
        Ok(Self(match text {
            "auto" => Some(shown),
            // For models that do not think, and refuse the setting.
            "none" => None,
            "off" => Some(ThinkingConfig {
                thinking_budget: Some(0),
                ..ThinkingConfig::default()
            }),
            "minimal" | "low" | "medium" | "high" => Some(ThinkingConfig {
                thinking_level: Some(text.to_owned()),
                ..shown
            }),
            _ => match text.parse::<u32>() {
                Ok(tokens) => Some(ThinkingConfig {
                    thinking_budget: Some(tokens.into()),
                    ..shown
                }),
                Err(_) => {
                    return Err(format!(
                        "`{text}` is not a way to think; expected auto, none, off, minimal, low, \
                         medium, high or a number of tokens"
                    ));
                }
            },
        }))
    }
}

/// What Gemini blocks: what Google blocks, if nothing is said.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Safety(pub(crate) Vec<SafetySetting>);

/// Kinds of harm, without the prefix that all have.
const HARMS: [&str; 5] = [
    "HARASSMENT",
    "HATE_SPEECH",
    "SEXUALLY_EXPLICIT",
    "DANGEROUS_CONTENT",
    "CIVIC_INTEGRITY",
];
const PREFIX: &str = "HARM_CATEGORY_";
const THRESHOLDS: [&str; 5] = [
    "BLOCK_LOW_AND_ABOVE",
    "BLOCK_MEDIUM_AND_ABOVE",
    "BLOCK_ONLY_HIGH",
    "BLOCK_NONE",
    "OFF",
];

impl FromStr for Safety {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut settings = Vec::new();
        for pair in text.split(',').map(str::trim) {
            let (harm, threshold) = match pair.split_once('=') {
                Some((harm, threshold)) => (Some(harm.trim()), threshold.trim()),
                None => (None, pair),
            };
            let harm = harm.map(|harm| harm.strip_prefix(PREFIX).unwrap_or(harm));
            if let Some(harm) = harm.filter(|harm| !HARMS.contains(harm)) {
                let harms = HARMS.join(", ");
                return Err(format!("`{harm}` is no kind of harm; expected {harms}"));
            }
            if !THRESHOLDS.contains(&threshold) {
                let thresholds = THRESHOLDS.join(", ");
                return Err(format!(
                    "`{threshold}` is no threshold; expected {thresholds}"
                ));
            }
            let all = HARMS
                .iter()
                .filter(|one| harm.is_none_or(|harm| harm == **one));
            settings.extend(all.map(|harm| SafetySetting {
                category: Some(format!("{PREFIX}{harm}")),
                threshold: Some(threshold.to_owned()),
                ..SafetySetting::default()
            }));
        }
        Ok(Self(settings))
    }
}

/// How freely Gemini answers: in its own way, if nothing is said.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Temperature(pub(crate) Option<f64>);

impl FromStr for Temperature {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text
            .parse()
            .ok()
            .filter(|number| (0.0..=2.0).contains(number));
        match number {
            Some(number) => Ok(Self(Some(number))),
            None => Err(format!(
                "`{text}` is not a temperature; expected 0 to 2, as in 0.7"
            )),
        }
    }
}

/// How many tokens an answer may have: as many as the model can, if nothing is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tokens(pub(crate) Option<u64>);

impl FromStr for Tokens {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse::<u32>() {
            Ok(tokens) if tokens > 0 => Ok(Self(Some(tokens.into()))),
            _ => Err(format!("`{text}` is not a number of tokens, as in 8192")),
        }
    }
}

/// The system instruction of the model: none by default. `@FILE` reads it from a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Instruction(pub(crate) Option<String>);

impl FromStr for Instruction {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = match text.strip_prefix('@') {
            Some(path) => std::fs::read_to_string(path)
                .map_err(|error| format!("can't read {path}: {error}"))?,
            None => text.to_owned(),
        };
        Ok(Self(
            Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_way_to_think_has_its_words() {
        for (text, config) in [
            ("auto", json!({"includeThoughts": true})),
            ("none", json!(null)),
            ("off", json!({"thinkingBudget": 0})),
            (
                "low",
                json!({"includeThoughts": true, "thinkingLevel": "low"}),
            ),
            (
                "1024",
                json!({"includeThoughts": true, "thinkingBudget": 1024}),
            ),
        ] {
            let thinking: Thinking = text.parse().unwrap();
            assert_eq!(json!(thinking.0), config, "{text}");
        }
        assert_eq!("auto".parse(), Ok(Thinking::default()));
        for text in ["", "yes", "-1", "LOW"] {
            assert!(text.parse::<Thinking>().is_err(), "{text}");
        }
    }

    #[test]
    fn safety_is_one_threshold_for_all_or_one_for_each() {
        let all: Safety = "BLOCK_NONE".parse().unwrap();
        assert_eq!(all.0.len(), HARMS.len());
        let some: Safety = "HARASSMENT=OFF, HARM_CATEGORY_HATE_SPEECH=BLOCK_ONLY_HIGH"
            .parse()
            .unwrap();
        assert_eq!(
            json!(some.0),
            json!([
                {"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"},
                {"category": "HARM_CATEGORY_HATE_SPEECH", "threshold": "BLOCK_ONLY_HIGH"},
            ])
        );
        for text in ["", "SOMETIMES", "RUDENESS=OFF", "HARASSMENT", "HARASSMENT="] {
            assert!(text.parse::<Safety>().is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_have_their_bounds() {
        assert_eq!("0.7".parse(), Ok(Temperature(Some(0.7))));
        assert_eq!("8192".parse(), Ok(Tokens(Some(8192))));
        for text in ["", "-1", "3", "nan", "warm"] {
            assert!(text.parse::<Temperature>().is_err(), "{text}");
        }
        for text in ["", "0", "-1", "1.5"] {
            assert!(text.parse::<Tokens>().is_err(), "{text}");
        }
    }

    #[test]
    fn an_instruction_is_a_text_or_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("instruction.md");
        std::fs::write(&path, "Be brief.\n").unwrap();
        let instruction = Instruction(Some("Be brief.".to_owned()));
        assert_eq!(
            format!("@{}", path.display()).parse(),
            Ok(instruction.clone())
        );
        assert_eq!("Be brief.".parse(), Ok(instruction));
        let missing = "@/nowhere/instruction.md"
            .parse::<Instruction>()
            .unwrap_err();
        assert!(
            missing.starts_with("can't read /nowhere/instruction.md: "),
            "{missing}"
        );
    }
}
