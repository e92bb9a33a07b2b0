//! JSON that is still being written: what a client shows of a call's input while it streams.
//!
//! A value that is cut off counts as far as it goes: strings, arrays and objects are closed, a key
//! without its value is dropped, a literal is completed. Text that no JSON could begin with is
//! nothing.

use serde_json::{Map, Number, Value};

use crate::assembler::Sdk;

/// Nested deeper than this, text counts as nothing, as it does for serde_json.
const DEPTH: usize = 127;

/// The value that the text is, or begins, as a client of a major sees it.
pub(crate) fn parse(text: &str, sdk: Sdk) -> Option<Value> {
    if let Ok(value) = serde_json::from_str(text) {
        return Some(value);
    }
    let mut reader = Reader {
        rest: text,
        depth: 0,
        sdk,
    };
    reader.value().ok().flatten()
}

/// The text is not the beginning of any JSON.
struct NotJson;

struct Reader<'a> {
    rest: &'a str,
    depth: usize,
    sdk: Sdk,
}

impl<'a> Reader<'a> {
    /// A value, or `None` where the text ends before one is known.
    fn value(&mut self) -> Result<Option<Value>, NotJson> {
        self.skip_space();
        let Some(first) = self.rest.chars().next() else {
            return Ok(None);
        };
        match first {
            '"' => self.string().map(|(text, _)| Some(Value::String(text))),
            '{' => self.nested(Self::object),
            '[' => self.nested(Self::array),
            't' => self.literal("true", Value::Bool(true)),
            'f' => self.literal("false", Value::Bool(false)),
            'n' => self.literal("null", Value::Null),
            '-' | '0'..='9' => Ok(self.number()),
            _ => Err(NotJson),
        }
    }

    fn nested(
        &mut self,
        read: fn(&mut Self) -> Result<Value, NotJson>,
    ) -> Result<Option<Value>, NotJson> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(NotJson);
        }
        let value = read(self)?;
        self.depth -= 1;
        Ok(Some(value))
    }

    fn object(&mut self) -> Result<Value, NotJson> {
        let mut map = Map::new();
        self.take('{');
        loop {
            self.skip_space();
            if self.take('}') || self.rest.is_empty() {
                break;
            }
            let (key, key_is_whole) = self.string()?;
            self.skip_space();
            if !key_is_whole || self.rest.is_empty() {
                break;
            }
            if !self.take(':') {
                return Err(NotJson);
            }
            let Some(value) = self.value()? else { break };
            map.insert(key, value);
            self.skip_space();
            if !self.take(',') && !self.rest.is_empty() && !self.rest.starts_with('}') {
                return Err(NotJson);
            }
        }
        Ok(Value::Object(map))
    }

    fn array(&mut self) -> Result<Value, NotJson> {
        let mut items = Vec::new();
        self.take('[');
        // 6 takes anything first in an array for a value, and then fails at it.
        if self.sdk == Sdk::V6 && self.rest == "-" {
            return Err(NotJson);
        }
        loop {
            self.skip_space();
            if self.take(']') {
                break;
            }
            let Some(value) = self.value()? else { break };
            items.push(value);
            self.skip_space();
            if !self.take(',') && !self.rest.is_empty() && !self.rest.starts_with(']') {
                return Err(NotJson);
            }
        }
        Ok(Value::Array(items))
    }

    /// A string, and whether its closing quote is there.
    fn string(&mut self) -> Result<(String, bool), NotJson> {
        let body = self.rest.strip_prefix('"').ok_or(NotJson)?;
        let mut escaped = false;
        for (index, character) in body.char_indices() {
            match character {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => {
                    let end = index + 2;
                    let text = serde_json::from_str(&self.rest[..end]).map_err(|_| NotJson)?;
                    self.rest = &self.rest[end..];
                    return Ok((text, true));
                }
                _ => {}
            }
        }
        self.rest = "";
        // The cut may be inside an escape of up to twelve characters (a pair of surrogates).
        let ends = body.char_indices().map(|(index, _)| index).rev();
        let ends = std::iter::once(body.len()).chain(ends).take(13);
        for end in ends {
            if let Ok(text) = serde_json::from_str(&format!("\"{}\"", &body[..end])) {
                return Ok((text, false));
            }
        }
        Err(NotJson)
    }

    fn literal(&mut self, name: &str, value: Value) -> Result<Option<Value>, NotJson> {
        if let Some(rest) = self.rest.strip_prefix(name) {
            self.rest = rest;
        } else if name.starts_with(self.rest) {
            self.rest = "";
        } else {
            return Err(NotJson);
        }
        Ok(Some(value))
    }

    /// A number, cut back to its last digit.
    fn number(&mut self) -> Option<Value> {
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        let text = text.trim_end_matches(|c: char| !c.is_ascii_digit());
        text.parse::<Number>().ok().map(Value::Number)
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    fn take(&mut self, character: char) -> bool {
        match self.rest.strip_prefix(character) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::parse;
    use crate::assembler::Sdk;
    use serde_json::json;

    #[test]
    fn cut_values_count_as_far_as_they_go() {
        for (text, value) in [
            (r#"{"amount":5"#, json!({"amount": 5})),
            (r#"{"amount":5,"rec"#, json!({"amount": 5})),
            (r#"{"amount":5,"recipient":"#, json!({"amount": 5})),
            (
                r#"{"amount":5,"recipient":"Al"#,
                json!({"amount": 5, "recipient": "Al"}),
            ),
            (r#"{"a":[1,{"b":tr"#, json!({"a": [1, {"b": true}]})),
            (r#"{"a":-"#, json!({})),
            (r#"{"a":1.5e"#, json!({"a": 1.5})),
            (r#""caf\u00e"#, json!("caf")),
            (r#""\ud83d\ude0"#, json!("")),
            ("[1, 2,", json!([1, 2])),
            ("{", json!({})),
            ("nu", json!(null)),
        ] {
            assert_eq!(parse(text, Sdk::V7), Some(value), "{text}");
        }
    }

    #[test]
    fn majors_differ_in_a_lone_minus() {
        assert_eq!(parse(r#"{"list":[-"#, Sdk::V7), Some(json!({"list": []})));
        assert_eq!(parse(r#"{"list":[-"#, Sdk::V6), None);
    }

    #[test]
    fn text_that_begins_no_json_is_nothing() {
        for text in ["", "  ", "x", "{]", "[1 2", r#"{"a" 1"#, &"[".repeat(5000)] {
            assert_eq!(parse(text, Sdk::V7), None, "{text:.20}");
        }
    }
}
