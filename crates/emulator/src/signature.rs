//! Thought signatures: what Gemini 3 wants back unchanged, on the part that it came with.
//!
//! A signature holds a checksum of the part that it was given to, so that nothing has to be
//! remembered: a restarted emulator knows its signatures again.

use std::hash::{DefaultHasher, Hash, Hasher};

use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use gemini::{Content, Data, FunctionCall, Part, Role};

use crate::refusal::Refusal;

/// Which models give signatures, and want them back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Signatures {
    /// Those from Gemini 3 on, as Google has it.
    #[default]
    ByModel,
    /// All.
    Always,
    /// None.
    Never,
}

impl Signatures {
    /// Whether a model gives signatures.
    pub(crate) fn apply_to(self, model: &str) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::ByModel => {
                let version = model.strip_prefix("gemini-").unwrap_or_default();
                let digits = version.split(|letter: char| !letter.is_ascii_digit());
                let major = digits.into_iter().next().and_then(|it| it.parse().ok());
                major.is_some_and(|major: u32| major >= 3)
            }
        }
    }
}

/// The two that Google takes for calls which no model made.
const SKIPPED: [&str; 2] = [
    "skip_thought_signature_validator",
    "context_engineering_is_the_way_to_go",
];

const CALL: &str = "adk-stream/call/";
const TEXT: &str = "adk-stream/text/";

/// Both alphabets, with and without padding: clients send either.
const STANDARD_LENIENT: GeneralPurpose = GeneralPurpose::new(&base64::alphabet::STANDARD, LENIENT);
const URL_SAFE_LENIENT: GeneralPurpose = GeneralPurpose::new(&base64::alphabet::URL_SAFE, LENIENT);
const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);

/// Bytes out of base64 of either alphabet.
pub(crate) fn bytes(text: &str) -> Option<Vec<u8>> {
    let standard = STANDARD_LENIENT.decode(text);
    standard.or_else(|_| URL_SAFE_LENIENT.decode(text)).ok()
}

/// The signature of a call.
pub(crate) fn of_call(call: &FunctionCall) -> String {
    STANDARD.encode(format!("{CALL}{:016x}", checksum(call)))
}

/// The signature of a text. It is given to an empty part at the end, as Gemini 3 does
/// when it streams, so it can't depend on how the text was cut.
pub(crate) fn of_text(response_id: &str) -> String {
    STANDARD.encode(format!("{TEXT}{:016x}", checksum_of_text(response_id)) + response_id)
}

fn checksum(call: &FunctionCall) -> u64 {
    let mut hasher = DefaultHasher::new();
    call.name.hash(&mut hasher);
    serde_json::to_string(&call.args)
        .unwrap_or_default()
        .hash(&mut hasher);
    hasher.finish()
}

fn checksum_of_text(response_id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    response_id.hash(&mut hasher);
    hasher.finish()
}

/// Whether a signature is that of its part.
fn is_true(part: &Part, signature: &str) -> bool {
    if SKIPPED.contains(&signature) {
        return true;
    }
    let Some(signature) = bytes(signature).and_then(|bytes| String::from_utf8(bytes).ok()) else {
        return false;
    };
    if SKIPPED.contains(&signature.as_str()) {
        return true;
    }
    match &part.data {
        Data::FunctionCall(call) => signature == format!("{CALL}{:016x}", checksum(call)),
        Data::Text(_) => {
            let decoded = signature
                .strip_prefix(TEXT)
                .and_then(|it| it.split_at_checked(16));
            decoded.is_some_and(|(sum, id)| sum == format!("{:016x}", checksum_of_text(id)))
        }
        _ => false,
    }
}

/// Refuses contents whose signatures are not what they were.
///
/// As Google has it: in the current turn, which the last user message opened, the first call
/// of each step needs its signature; anywhere, a signature has to be that of its part.
pub(crate) fn check(contents: &[Content]) -> Result<(), Refusal> {
    let is_model = |content: &Content| content.role == Some(Role::Model);
    let opens_turn = |content: &Content| {
        let is_response = |part: &Part| matches!(part.data, Data::FunctionResponse(_));
        !is_model(content) && !content.parts.iter().all(is_response)
    };
    let turn = contents.iter().rposition(opens_turn).unwrap_or(0);
    let mut is_first_call = true;
    for (index, content) in contents.iter().enumerate() {
        if !is_model(content) {
            is_first_call = true;
        }
        for part in &content.parts {
            if let Some(signature) = &part.thought_signature
                && !is_true(part, signature)
            {
                return Err(Refusal::invalid("Corrupted thought signature."));
            }
            let Data::FunctionCall(call) = &part.data else {
                continue;
            };
            if index >= turn && is_first_call && part.thought_signature.is_none() {
                let name = call.name.as_deref().unwrap_or_default();
                return Err(Refusal::invalid(format!(
                    "Function call is missing a thought_signature in functionCall parts. This is \
                     required for tools to work correctly, and missing thought_signature may lead to \
                     degraded model performance. Additional data, function call `default_api:{name}` , \
                     position {}. Please refer to \
                     https://ai.google.dev/gemini-api/docs/thought-signatures for more details.",
                    index + 1
                )));
            }
            is_first_call = false;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn call(name: &str) -> FunctionCall {
        FunctionCall {
            name: Some(name.to_owned()),
            args: json!({"location": "Tokyo"}).as_object().cloned(),
            ..FunctionCall::default()
        }
    }

    fn contents(value: Value) -> Vec<Content> {
        serde_json::from_value(value).unwrap()
    }

    fn signed(name: &str, signature: Option<String>) -> Value {
        let mut part = json!({"functionCall": call(name)});
        if let Some(signature) = signature {
            part["thoughtSignature"] = signature.into();
        }
        part
    }

    fn history(calls: &[Value], after: &[Value]) -> Vec<Content> {
        let response = json!({"functionResponse": {"name": "f", "response": {}}});
        let responses: Vec<_> = calls.iter().map(|_| response.clone()).collect();
        let mut history = vec![
            json!({"role": "user", "parts": [{"text": "go"}]}),
            json!({"role": "model", "parts": calls}),
            json!({"role": "user", "parts": responses}),
        ];
        history.extend_from_slice(after);
        contents(Value::Array(history))
    }

    fn message(contents: &[Content]) -> Option<String> {
        check(contents)
            .err()
            .map(|refusal| refusal.message().to_owned())
    }

    #[test]
    fn models_from_gemini_3_on_sign() {
        for (model, signs) in [
            ("gemini-3-pro-preview", true),
            ("gemini-3.1-flash-lite", true),
            ("gemini-4-argon", true),
            ("gemini-2.5-flash", false),
            ("gemini-flash-latest", false),
            ("gemma-3-27b-it", false),
        ] {
            assert_eq!(Signatures::ByModel.apply_to(model), signs, "{model}");
        }
        assert!(Signatures::Always.apply_to("gemini-2.5-flash"));
        assert!(!Signatures::Never.apply_to("gemini-3-pro"));
    }

    #[test]
    fn a_signature_comes_back_on_the_first_call() {
        let signature = of_call(&call("f"));
        let good = [signed("f", Some(signature.clone())), signed("f", None)];
        assert_eq!(message(&history(&good, &[])), None);
        let url_safe = signature
            .replace('+', "-")
            .replace('/', "_")
            .replace('=', "");
        assert_eq!(message(&history(&[signed("f", Some(url_safe))], &[])), None);

        let moved = [signed("f", None), signed("f", Some(signature.clone()))];
        let text = message(&history(&moved, &[])).unwrap();
        assert!(text.contains("`default_api:f` , position 2."), "{text}");
        let other = [signed("g", Some(signature.clone()))];
        assert_eq!(
            message(&history(&other, &[])).unwrap(),
            "Corrupted thought signature."
        );
        let altered = [signed("f", Some(format!("A{signature}")))];
        assert_eq!(
            message(&history(&altered, &[])).unwrap(),
            "Corrupted thought signature."
        );
        let skipped = [signed("f", Some(SKIPPED[0].to_owned()))];
        assert_eq!(message(&history(&skipped, &[])), None);
    }

    #[test]
    fn an_earlier_turn_may_have_lost_its_signatures() {
        let later = [
            json!({"role": "model", "parts": [{"text": "done"}]}),
            json!({"role": "user", "parts": [{"text": "thanks"}]}),
        ];
        assert_eq!(message(&history(&[signed("f", None)], &later)), None);
    }

    #[test]
    fn words_are_signed_however_they_are_cut() {
        let said = |signature: &str| {
            let part = json!({"text": "", "thoughtSignature": signature});
            contents(json!([{"role": "model", "parts": [{"text": "a"}, part]}]))
        };
        assert_eq!(message(&said(&of_text("r1"))), None);
        assert!(message(&said(&of_call(&call("f")))).is_some());
    }
}
