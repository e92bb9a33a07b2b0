//! What a person is asked about a call: a sentence made from the call's input.
//!
//! What is shown is what runs, so values are shown exactly: nothing is cut, a field that the input does not
//! have is said to be missing, and characters that nobody sees are written as escapes.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use serde_json::Value;

/// How long a template may be.
pub const MAX_TEMPLATE_BYTES: usize = 4096;

/// What is written for a field that the input does not have.
const MISSING: &str = "(not given)";

/// How much of a field the question shows that is made where there is no template. The approval shows the
/// whole input beside it.
const MAX_FIELD_CHARS: usize = 200;

/// A template of a question, such as `Refund {{input.amount}} for order {{input.order}}?`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    template: String,
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// The keys that lead to a value of the input.
    Field(Vec<String>),
}

/// What is wrong with a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionError {
    /// At which byte of the template.
    pub at: usize,
    /// What.
    pub what: String,
}

impl fmt::Display for QuestionError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} (at byte {} of the question)", self.what, self.at)
    }
}

impl std::error::Error for QuestionError {}

impl Question {
    /// Reads a template.
    pub fn new(template: &str) -> Result<Self, QuestionError> {
        let error = |at, what: String| Err(QuestionError { at, what });
        if template.trim().is_empty() {
            return error(0, "the question is empty".to_owned());
        }
        if template.len() > MAX_TEMPLATE_BYTES {
            let what = format!("the question is longer than {MAX_TEMPLATE_BYTES} bytes");
            return error(MAX_TEMPLATE_BYTES, what);
        }
        let (mut pieces, mut at) = (Vec::new(), 0);
        while let Some(open) = template[at..].find("{{").map(|open| at + open) {
            let Some(close) = template[open..].find("}}").map(|close| open + close) else {
                return error(open, "{{ has no }}".to_owned());
            };
            pieces.push(Piece::Text(template[at..open].to_owned()));
            let name = template[open + 2..close].trim();
            let mut keys = name.split('.');
            if keys.next() != Some("input") || keys.clone().any(str::is_empty) {
                let what = format!("{name:?} is not input, nor a field of it such as input.amount");
                return error(open, what);
            }
            pieces.push(Piece::Field(keys.map(str::to_owned).collect()));
            at = close + 2;
        }
        pieces.push(Piece::Text(template[at..].to_owned()));
        Ok(Self {
            template: template.to_owned(),
            pieces,
        })
    }

    /// The template, as it was written.
    pub fn template(&self) -> &str {
        &self.template
    }

    /// The question about an input.
    pub fn about(&self, input: &Value) -> String {
        let mut question = String::with_capacity(self.template.len());
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => question.push_str(text),
                Piece::Field(keys) => match find(input, keys) {
                    Some(value) => question.push_str(&shown(value)),
                    None => question.push_str(MISSING),
                },
            }
        }
        question
    }

    /// The first field that an input of a schema can't have, as it is written in the template: a mistake
    /// that is better found when a file is read than when somebody is asked.
    pub fn undeclared_field(&self, schema: &Value) -> Option<String> {
        let fields = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Field(keys) => Some(keys),
            Piece::Text(_) => None,
        });
        let mut undeclared = fields.filter(|keys| !may_have(schema, schema, keys));
        let keys = undeclared.next()?;
        Some(format!("input.{}", keys.join(".")))
    }
}

impl FromStr for Question {
    type Err = QuestionError;

    fn from_str(template: &str) -> Result<Self, QuestionError> {
        Self::new(template)
    }
}

/// The default question about a call: the tool with its input, field by field.
pub fn plain_question(tool: &str, input: &Value) -> String {
    let fields = input.as_object().filter(|fields| !fields.is_empty());
    let Some(fields) = fields else {
        return format!("Run {tool}?");
    };
    let mut question = format!("Run {tool} with ");
    for (n, (key, value)) in fields.iter().enumerate() {
        let comma = if n == 0 { "" } else { ", " };
        let value = visible(&value.to_string());
        // Writing to a string can't fail.
        let _ = write!(question, "{comma}{} = ", visible(key));
        match value.char_indices().nth(MAX_FIELD_CHARS) {
            Some((end, _)) => {
                let _ = write!(
                    question,
                    "{}… ({} bytes in all)",
                    &value[..end],
                    value.len()
                );
            }
            None => question.push_str(&value),
        }
    }
    question.push('?');
    question
}

fn find<'a>(input: &'a Value, keys: &[String]) -> Option<&'a Value> {
    keys.iter().try_fold(input, |value, key| match value {
        Value::Object(map) => map.get(key),
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        _ => None,
    })
}

/// A value as a person reads it. Text is not quoted, unless one could not see where it begins and ends.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) if is_plain(text) => text.clone(),
        other => visible(&other.to_string()),
    }
}

fn is_plain(text: &str) -> bool {
    let has_edges = text.trim() == text && !text.is_empty();
    has_edges && !text.chars().any(|c| c.is_control() || is_unseen(c))
}

/// JSON with invisible characters escaped. They occur only in its strings.
fn visible(json: &str) -> String {
    let mut seen = String::with_capacity(json.len());
    for c in json.chars() {
        match c.is_control() || is_unseen(c) {
            true => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    // Writing to a string can't fail.
                    let _ = write!(seen, "\\u{unit:04x}");
                }
            }
            false => seen.push(c),
        }
    }
    seen
}

/// Characters that hide, or that change the order in which the others are read.
fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether an input of a schema may have a field. Where the schema is not plain, it may.
fn may_have(root: &Value, schema: &Value, keys: &[String]) -> bool {
    const OPEN: [&str; 8] = [
        "additionalProperties",
        "unevaluatedProperties",
        "patternProperties",
        "allOf",
        "anyOf",
        "oneOf",
        "if",
        "dependentSchemas",
    ];
    let Some((key, rest)) = keys.split_first() else {
        return true;
    };
    let Some(schema) = schema.as_object() else {
        return true;
    };
    if let Some(path) = schema.get("$ref").and_then(Value::as_str) {
        // A reference is followed once; what refers to references is not plain.
        let target = path.strip_prefix('#').and_then(|path| root.pointer(path));
        let target = target.filter(|target| target.get("$ref").is_none());
        return target.is_none_or(|target| may_have(root, target, keys));
    }
    let is_open = |name: &&str| schema.get(*name).is_some_and(|value| value != false);
    let declared = schema.get("properties").and_then(Value::as_object);
    match declared.and_then(|declared| declared.get(key)) {
        Some(inner) => may_have(root, inner, rest),
        None => declared.is_none() || OPEN.iter().any(is_open),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ask(template: &str, input: Value) -> String {
        Question::new(template).unwrap().about(&input)
    }

    #[test]
    fn values_are_shown_exactly() {
        let template = "Refund {{input.amount}} {{ input.currency }} for {{input.order.id}}?";
        let input = json!({"amount": 12.50, "currency": "EUR", "order": {"id": "A-1"}});
        assert_eq!(ask(template, input), "Refund 12.5 EUR for A-1?");
        let input = json!({"to": ["ann", "bob"], "flag": true, "n": 10_000_000_000_u64});
        let template = "{{input.to.1}} {{input.to}} {{input.flag}} {{input.n}}";
        assert_eq!(
            ask(template, input),
            r#"bob ["ann","bob"] true 10000000000"#
        );
        let long = "x".repeat(60_000);
        assert_eq!(ask("{{input.a}}", json!({"a": long})), long);
    }

    #[test]
    fn what_is_missing_or_empty_is_said() {
        let template = "{{input.a}}|{{input.b}}|{{input.c}}|{{input.d.e}}";
        let asked = ask(template, json!({"a": "", "b": null, "d": 5}));
        assert_eq!(asked, r#"""|null|(not given)|(not given)"#);
    }

    #[test]
    fn what_nobody_sees_is_escaped() {
        let asked = ask("Pay {{input.to}}?", json!({"to": "a\u{202e}b\nc"}));
        assert_eq!(asked, r#"Pay "a\u202eb\nc"?"#);
        let asked = ask("Pay {{input.to}}?", json!({"to": " ann"}));
        assert_eq!(asked, r#"Pay " ann"?"#);
        let asked = ask("{{input.x}}", json!({"x": ["\u{e0041}"]}));
        assert_eq!(asked, r#"["\udb40\udc41"]"#);
        let asked = plain_question("pay", &json!({"a\u{200b}": 1}));
        assert_eq!(asked, r"Run pay with a\u200b = 1?");
    }

    #[test]
    fn template_that_is_none_is_refused_where_it_is_wrong() {
        for (template, at, what) in [
            ("Pay {{input.amount?", 4, "no }}"),
            ("Pay {{amount}}?", 4, "\"amount\""),
            ("Pay {{input.}}?", 4, "\"input.\""),
            ("{{}}", 0, "\"\""),
            (" ", 0, "empty"),
        ] {
            let error = Question::new(template).unwrap_err();
            assert_eq!(error.at, at, "{template}");
            assert!(error.what.contains(what), "{template}: {error}");
        }
        assert!(Question::new(&"x".repeat(MAX_TEMPLATE_BYTES + 1)).is_err());
    }

    #[test]
    fn field_that_the_schema_does_not_declare_is_found() {
        let schema = json!({
            "type": "object",
            "properties": {"amount": {"type": "number"}, "to": {"$ref": "#/$defs/to"}, "any": {}},
            "$defs": {"to": {"type": "object", "properties": {"name": {}}}},
        });
        for (template, undeclared) in [
            ("{{input.amount}} {{input.to.name}}", None),
            ("{{input.amuont}}", Some("input.amuont")),
            ("{{input.to.nmae}}", Some("input.to.nmae")),
            ("{{input.any.thing}}", None),
            ("{{input}}", None),
        ] {
            let question = Question::new(template).unwrap();
            let found = question.undeclared_field(&schema);
            assert_eq!(found.as_deref(), undeclared, "{template}");
        }
        let open = json!({"properties": {"a": {}}, "additionalProperties": true});
        let question = Question::new("{{input.b}}").unwrap();
        assert_eq!(question.undeclared_field(&open), None);
    }

    #[test]
    fn plain_question_names_the_tool_and_its_fields() {
        let asked = plain_question("crm.refund", &json!({"amount": 5, "order": "A"}));
        assert_eq!(asked, r#"Run crm.refund with amount = 5, order = "A"?"#);
        assert_eq!(plain_question("crm.ping", &json!({})), "Run crm.ping?");
        let asked = plain_question("fs.write", &json!({"text": "x".repeat(1000)}));
        assert!(asked.contains("… (1002 bytes in all)?"), "{asked}");
    }
}
