//! What a tool declares of its input or output, compiled once, and what is wrong with a value.
//!
//! A person can consent only to what is shown, so an input is checked before anything is asked: it is an
//! object, it holds nothing that the tool did not declare and nothing that a page can't show, and it is
//! within bounds. Types in Rust are no such check: serde reads a struct from an array, and drops
//! fields that it does not know.

mod closed;

use std::sync::Arc;

use jsonschema::{Draft, ValidationError, Validator};
use serde_json::Value;
use turn::call::{has_hidden_key, has_rounded_number};
use turn::limits::json_size;
pub use turn::limits::{MAX_DEPTH, MAX_INPUT_BYTES, MAX_KEY_BYTES, MAX_STRING_BYTES};

/// How much of an error is passed on. It may quote what the model gave.
const MAX_ERROR_BYTES: usize = 400;

/// A declared schema.
#[derive(Clone)]
pub(crate) struct Schema {
    declared: Arc<Value>,
    /// What is wrong with it, if it is no schema.
    validator: Result<Arc<Validator>, Arc<str>>,
}

impl Schema {
    /// A schema of inputs: nothing is in them that it does not declare, unless it says otherwise.
    pub(crate) fn of_input(declared: &Value) -> Self {
        Self::new(closed::closed(declared))
    }

    /// A schema of outputs. Nobody consents to those, and a newer page may say more.
    pub(crate) fn of_output(declared: Value) -> Self {
        Self::new(declared)
    }

    fn new(declared: Value) -> Self {
        let options = jsonschema::options().with_draft(Draft::Draft202012);
        let validator = options.build(&declared).map(Arc::new);
        let validator = validator.map_err(|error| Arc::from(error.to_string()));
        let declared = Arc::new(declared);
        Self {
            declared,
            validator,
        }
    }

    /// Why it is no schema, if it is none.
    pub(crate) fn error(&self) -> Option<&str> {
        self.validator.as_ref().err().map(|error| &**error)
    }

    /// What is wrong with an input.
    pub(crate) fn check_input(&self, input: &Value) -> Result<(), String> {
        is_showable(input)?;
        check_bounds(input, Some(&self.declared))?;
        self.validate(input)
    }

    /// What is wrong with an output.
    pub(crate) fn check_output(&self, output: &Value) -> Result<(), String> {
        self.validate(output)
    }

    fn validate(&self, value: &Value) -> Result<(), String> {
        let validated = self.validator()?.validate(value);
        validated.map_err(|error| describe(&error))
    }

    /// Its validator, or why it has none.
    pub(crate) fn validator(&self) -> Result<&Validator, String> {
        // An unchecked call must not run.
        let validator = self.validator.as_deref();
        validator.map_err(|error| format!("the tool's own schema can't be used: {error}"))
    }
}

/// Whether two schemas of inputs take the same properties: saying that no others are taken changes
/// nothing, since none are.
pub(crate) fn is_same_input(one: &Value, other: &Value) -> bool {
    let normal = |declared: &Value| closed::with_one_keyword(closed::closed(declared));
    normal(one) == normal(other)
}

/// What is wrong with the input of a call for a tool that declares nothing here: what runs must be what
/// is shown.
pub(crate) fn check_undeclared_input(input: &Value) -> Result<(), String> {
    is_showable(input)?;
    check_bounds(input, None)
}

fn is_showable(input: &Value) -> Result<(), String> {
    if !input.is_object() {
        return Err(
            "the input must be an object, with the declared fields by their names".to_owned(),
        );
    }
    check_showable(input)
}

/// Whether pages show a value as it is.
pub(crate) fn check_showable(input: &Value) -> Result<(), String> {
    if has_hidden_key(input) {
        return Err(
            "no key may be __proto__, or constructor with a prototype: pages can't show them"
                .to_owned(),
        );
    }
    if has_rounded_number(input) {
        return Err(
            "a number is too large to be shown as it runs: integers have 64 bits, others are less than 2^53"
                .to_owned(),
        );
    }
    Ok(())
}

/// Where a value is inside of an input, as a JSON pointer.
type Pointer<'a> = Vec<closed::Step<'a>>;

pub(crate) fn check_bounds(input: &Value, declared: Option<&Value>) -> Result<(), String> {
    let mut at = Vec::new();
    check_value(input, declared, &mut at)?;
    match json_size(input) > MAX_INPUT_BYTES {
        true => Err(format!("the input is larger than {MAX_INPUT_BYTES} bytes")),
        false => Ok(()),
    }
}

fn check_value<'a>(
    value: &'a Value,
    declared: Option<&Value>,
    at: &mut Pointer<'a>,
) -> Result<(), String> {
    match value {
        Value::Array(_) | Value::Object(_) if at.len() >= MAX_DEPTH => Err(format!(
            "the input is nested deeper than {MAX_DEPTH} levels"
        )),
        Value::Array(items) => items.iter().enumerate().try_for_each(|(n, item)| {
            at.push(closed::Step::Item(n));
            check_value(item, declared, at)?;
            at.pop();
            Ok(())
        }),
        Value::Object(map) => map.iter().try_for_each(|(key, value)| {
            if key.len() > MAX_KEY_BYTES {
                return Err(format!("a key is longer than {MAX_KEY_BYTES} bytes"));
            }
            at.push(closed::Step::Key(key));
            check_value(value, declared, at)?;
            at.pop();
            Ok(())
        }),
        Value::String(text) if text.len() > MAX_STRING_BYTES => {
            if declared.is_some_and(|declared| closed::declares_length(declared, at)) {
                return Ok(());
            }
            let at: String = at.iter().map(ToString::to_string).collect();
            let error = format!("{at}: longer than {MAX_STRING_BYTES} bytes");
            Err(cut(&error))
        }
        _ => Ok(()),
    }
}

/// Where, and what: enough for a model to do better, and no more of what it gave than it takes.
fn describe(error: &ValidationError<'_>) -> String {
    let at = error.instance_path().to_string();
    let what = error.masked().to_string();
    match at.is_empty() {
        true => cut(&what),
        false => cut(&format!("{at}: {what}")),
    }
}

pub(crate) fn cut(text: &str) -> String {
    let mut ends = text.char_indices();
    match ends.find(|(at, _)| *at >= MAX_ERROR_BYTES) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde_json::json;

    use super::*;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is wanted")]
    struct Pay {
        amount: f64,
        recipient: Person,
        #[schemars(length(max = 100_000))]
        letter: Option<String>,
        note: Option<String>,
        tags: Option<std::collections::BTreeMap<String, String>>,
        how: Option<How>,
        anything: Option<Value>,
        others: Option<Vec<Person>>,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is wanted")]
    struct Person {
        name: String,
    }

    #[derive(JsonSchema)]
    #[serde(tag = "kind")]
    #[expect(dead_code, reason = "only its schema is wanted")]
    enum How {
        Card { number: String },
        Cash,
    }

    fn check(input: Value) -> Result<(), String> {
        Schema::of_input(&schemars::schema_for!(Pay).to_value()).check_input(&input)
    }

    fn with(key: &str, value: Value) -> Value {
        let mut input = json!({"amount": 5, "recipient": {"name": "Sam"}});
        input[key] = value;
        input
    }

    #[test]
    fn what_is_declared_is_taken() {
        for input in [
            json!({"amount": 5, "recipient": {"name": "Sam"}}),
            with("note", Value::Null),
            with("tags", json!({"any": "key", "and": "another"})),
            with("how", json!({"kind": "Card", "number": "4"})),
            with("how", json!({"kind": "Cash"})),
            with("anything", json!({"at": ["all", 1, {"b": null}]})),
            with("others", json!([{"name": "Ann"}])),
            with("letter", json!("x".repeat(70_000))),
        ] {
            assert_eq!(check(input.clone()), Ok(()), "{input}");
        }
    }

    #[test]
    fn what_is_not_declared_is_refused_where_it_stands() {
        for (input, at) in [
            (with("amuont", json!(5)), "amuont"),
            (
                with("recipient", json!({"name": "Sam", "iban": "X"})),
                "/recipient",
            ),
            (
                with("others", json!([{"name": "Ann"}, {"name": "Bob", "x": 1}])),
                "/others/1",
            ),
            (
                with("how", json!({"kind": "Card", "number": "4", "pin": 1})),
                "/how",
            ),
            (with("how", json!({"kind": "Cash", "number": "4"})), "/how"),
            (with("amount", json!("5")), "/amount"),
            (with("tags", json!({"a": 5})), "/tags/a"),
            (json!({"amount": 5}), "recipient"),
        ] {
            let error = check(input.clone()).expect_err(&input.to_string());
            assert!(error.contains(at), "{input}: {error}");
        }
    }

    #[test]
    fn input_is_an_object() {
        for input in [
            json!([5, {"name": "Mallory"}]),
            json!("x"),
            json!(5),
            json!(null),
        ] {
            let error = check(input).unwrap_err();
            assert!(error.contains("an object"), "{error}");
        }
    }

    #[test]
    fn keys_that_pages_can_not_show_are_refused_at_any_depth() {
        let proto: Value = serde_json::from_str(r#"{"a": [{"__proto__": 1}]}"#).unwrap();
        for hidden in [proto, json!({"constructor": {"prototype": 1}})] {
            let error = check(with("anything", hidden)).unwrap_err();
            assert!(error.contains("__proto__"), "{error}");
        }
    }

    #[test]
    fn numbers_that_may_have_been_rounded_are_refused_at_any_depth() {
        let read = |number: &str| serde_json::from_str::<Value>(number).unwrap();
        for number in [
            "9007199254740993",
            "-9223372036854775808",
            "18446744073709551615",
            "0.1",
            "0.30000000000000004",
            "9007199254740991.0",
        ] {
            let input = with("anything", json!([read(number)]));
            assert!(input.to_string().contains(number), "{input}");
            assert_eq!(check(input), Ok(()), "{number}");
        }
        for number in [
            "18446744073709551616",
            "-9223372036854775809",
            "100000000000000000000001",
            "9007199254740993.0",
            "1e23",
        ] {
            let error = check(with("anything", json!([read(number)]))).unwrap_err();
            assert!(error.contains("too large"), "{number}: {error}");
        }
    }

    #[test]
    fn bounds_are_kept_and_errors_are_short() {
        let long = "x".repeat(MAX_STRING_BYTES + 1);
        let error = check(with("note", json!(long))).unwrap_err();
        assert_eq!(error, "/note: longer than 65536 bytes");
        let error = check(with("letter", json!("x".repeat(100_001)))).unwrap_err();
        assert!(
            error.starts_with("/letter: ") && error.len() < 200,
            "{error}"
        );
        assert!(check(with("anything", json!({"deep": {"note": long}}))).is_err());
        assert!(check(with("anything", json!({"k".repeat(257): 1}))).is_err());
        let many = vec!["x".repeat(60_000); 5];
        let error = check(with("anything", json!(many))).unwrap_err();
        assert!(error.contains("larger than 262144 bytes"), "{error}");
        let deep = (0..40).fold(json!(1), |inner, _| json!([inner]));
        let error = check(with("anything", deep)).unwrap_err();
        assert!(error.contains("deeper than 32"), "{error}");
        let error = check(with(&"k".repeat(250), json!("y".repeat(60_000)))).unwrap_err();
        assert!(error.len() < 500, "{error}");
    }

    #[test]
    fn schema_that_is_none_lets_nothing_pass() {
        let schema = Schema::of_input(&json!({"type": "object", "properties": {"a": {"type": 5}}}));
        let error = schema.check_input(&json!({"a": 1})).unwrap_err();
        assert!(error.contains("own schema"), "{error}");
    }
}
