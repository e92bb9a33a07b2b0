//! The data that a person is asked for: whether a schema can be asked by, and what is wrong with an
//! answer, field by field.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::schema::{self, Schema};

/// How many errors of one answer are reported.
const MAX_ERRORS: usize = 32;

/// What is wrong with one field of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldError {
    /// Where it is in the answer, as a JSON pointer; empty for the answer itself.
    pub path: String,
    /// What is wrong with it.
    pub message: String,
}

impl std::fmt::Display for FieldError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.path.is_empty() {
            true => out.write_str(&self.message),
            false => write!(out, "{}: {}", self.path, self.message),
        }
    }
}

/// What is wrong with a question and its schema, if they can't be asked.
pub fn check_question(question: &str, schema: &Value) -> Result<(), String> {
    if question.trim().is_empty() {
        return Err("the question is empty".to_owned());
    }
    if !schema.is_object() {
        return Err("the schema must be an object".to_owned());
    }
    let shown = json!({"question": question, "schema": schema});
    schema::check_undeclared_input(&shown)?;
    match Schema::of_input(schema).error() {
        Some(error) => Err(format!("the schema can't be used: {}", schema::cut(error))),
        None => Ok(()),
    }
}

/// What is wrong with an answer, field by field. Nothing may be in it that the schema does not declare:
/// no form has shown it.
pub fn check_answer(schema: &Value, answer: &Value) -> Result<(), Vec<FieldError>> {
    let whole = |message: String| {
        let path = String::new();
        vec![FieldError { path, message }]
    };
    schema::check_bounds(answer, Some(schema)).map_err(whole)?;
    schema::check_showable(answer).map_err(whole)?;
    let schema = Schema::of_input(schema);
    let validator = schema.validator().map_err(whole)?;
    let mut errors = Vec::new();
    for error in validator.iter_errors(answer).take(MAX_ERRORS) {
        let error = field_error(&error);
        if !errors.contains(&error) {
            errors.push(error);
        }
    }
    match errors.is_empty() {
        true => Ok(()),
        false => Err(errors),
    }
}

/// A field that is missing, or should not be there, is the one that is wrong, not what it is in.
fn field_error(error: &ValidationError<'_>) -> FieldError {
    let at = error.instance_path().to_string();
    let (field, message) = match error.kind() {
        ValidationErrorKind::Required { property } => {
            (property.as_str(), Some("This is required."))
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            let first = unexpected.first().map(String::as_str);
            (first, Some("Nothing of this name is asked for."))
        }
        _ => (None, None),
    };
    let path = match field {
        Some(field) => format!("{at}/{}", field.replace('~', "~0").replace('/', "~1")),
        None => at,
    };
    let message = message.map_or_else(|| error.masked().to_string(), str::to_owned);
    FieldError {
        path: schema::cut(&path),
        message: schema::cut(&message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Value {
        json!({
            "type": "object",
            "properties": {
                "date": {"type": "string", "format": "date"},
                "people": {"type": "integer", "minimum": 1, "maximum": 12},
                "where": {"enum": ["inside", "outside"]},
                "contact": {
                    "type": "object",
                    "properties": {"name": {"type": "string", "minLength": 1}},
                    "required": ["name"],
                },
            },
            "required": ["date", "people"],
        })
    }

    fn paths(answer: Value) -> Vec<String> {
        let errors = check_answer(&table(), &answer).unwrap_err();
        let mut paths: Vec<_> = errors.into_iter().map(|error| error.path).collect();
        paths.sort();
        paths
    }

    #[test]
    fn answer_that_fits_is_taken() {
        let answer = json!({"date": "2026-12-24", "people": 4, "contact": {"name": "Ann"}});
        assert_eq!(check_answer(&table(), &answer), Ok(()));
        assert_eq!(
            check_answer(&json!({"type": "string"}), &json!("yes")),
            Ok(())
        );
    }

    #[test]
    fn every_field_that_is_wrong_is_named_by_its_path() {
        assert_eq!(paths(json!({})), ["/date", "/people"]);
        assert_eq!(paths(json!({"date": "x", "people": 0})), ["/people"]);
        let wrong = json!({"date": "x", "people": 2.5, "where": "roof", "contact": {}});
        assert_eq!(paths(wrong), ["/contact/name", "/people", "/where"]);
        let more = json!({"date": "x", "people": 2, "a/b": 1});
        assert_eq!(paths(more), ["/a~1b"]);
        assert_eq!(paths(json!([])), [""]);
    }

    #[test]
    fn answer_that_no_page_could_show_is_refused() {
        let any = json!({"type": "object", "additionalProperties": true});
        let hidden: Value = serde_json::from_str(r#"{"a": {"__proto__": 1}}"#).unwrap();
        assert!(check_answer(&any, &hidden).is_err());
        assert!(check_answer(&any, &json!({"a": "x".repeat(300_000)})).is_err());
    }

    #[test]
    fn question_needs_words_and_a_schema_that_is_one() {
        assert_eq!(check_question("When?", &table()), Ok(()));
        assert!(check_question(" ", &table()).is_err());
        assert!(check_question("When?", &json!(true)).is_err());
        assert!(check_question("When?", &json!({"type": 5})).is_err());
        let remote = json!({"$ref": "https://example.com/schema.json"});
        assert!(check_question("When?", &remote).is_err());
    }
}
