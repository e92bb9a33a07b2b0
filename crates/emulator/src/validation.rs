//! What Google demands of a request before it answers.

use gemini::{Content, Data, GenerateContentRequest, Part, Role, Tool};

use crate::refusal::Refusal;
use crate::signature;

/// Fields of a request that are not read here and that Google knows.
const KNOWN: [&str; 6] = [
    "model",
    "labels",
    "serviceTier",
    "service_tier",
    "store",
    "modelArmorConfig",
];

/// Refuses what Google would refuse.
pub(crate) fn check(request: &GenerateContentRequest, has_signatures: bool) -> Result<(), Refusal> {
    let stranger = request
        .rest
        .keys()
        .find(|key| !KNOWN.contains(&key.as_str()));
    if let Some(name) = stranger {
        return Err(Refusal::unknown_name(name));
    }
    if request.contents.is_empty() {
        return Err(Refusal::invalid(
            "* GenerateContentRequest.contents: contents is not specified\n",
        ));
    }
    for (index, content) in request.contents.iter().enumerate() {
        check_content(index, content)?;
    }
    check_tools(&request.tools)?;
    check_calls(&request.contents)?;
    if has_signatures {
        signature::check(&request.contents)?;
    }
    Ok(())
}

fn check_content(index: usize, content: &Content) -> Result<(), Refusal> {
    if let Some(Role::Unknown(role)) = &content.role
        && role != "function"
    {
        return Err(Refusal::invalid("Please use a valid role: user, model."));
    }
    let place = format!("* GenerateContentRequest.contents[{index}].parts");
    if content.parts.is_empty() {
        return Err(Refusal::invalid(format!(
            "{place}: contents.parts must not be empty.\n"
        )));
    }
    for (part_index, part) in content.parts.iter().enumerate() {
        match &part.data {
            Data::Unknown if part.rest.is_empty() => {
                return Err(Refusal::invalid(format!(
                    "{place}[{part_index}].data: required oneof field 'data' must have one initialized field\n"
                )));
            }
            Data::InlineData(blob) => {
                let data = blob.data.as_deref().unwrap_or_default();
                if signature::bytes(data).is_none() {
                    return Err(Refusal::invalid(format!(
                        "Invalid value at 'contents[{index}].parts[{part_index}].inline_data.data' \
                         (TYPE_BYTES), Base64 decoding failed"
                    )));
                }
            }
            Data::FunctionResponse(response)
                if response.name.as_deref().unwrap_or("").is_empty() =>
            {
                return Err(Refusal::invalid(format!(
                    "{place}[{part_index}].function_response.name: Name cannot be empty.\n"
                )));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Names must be valid and unique.
pub(crate) fn check_tools(tools: &[Tool]) -> Result<(), Refusal> {
    let mut names = Vec::new();
    for (tool_index, tool) in tools.iter().enumerate() {
        for (index, function) in tool.function_declarations.iter().enumerate() {
            let place = format!(
                "* GenerateContentRequest.tools[{tool_index}].function_declarations[{index}]"
            );
            let name = function.name.as_deref().unwrap_or_default();
            if !is_name(name) {
                return Err(Refusal::invalid(format!(
                    "{place}.name: Invalid function name. Must start with a letter or an underscore. Must \
                     be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes \
                     (-), with a maximum length of 64.\n"
                )));
            }
            if function.parameters.is_some() && function.parameters_json_schema.is_some() {
                return Err(Refusal::invalid(format!(
                    "{place}: only one of parameters and parameters_json_schema can be set.\n"
                )));
            }
            if names.contains(&name) {
                return Err(Refusal::invalid(format!(
                    "Duplicate function declaration found: {name}"
                )));
            }
            names.push(name);
        }
    }
    Ok(())
}

fn is_name(name: &str) -> bool {
    let starts = name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
    let is_fine = |letter: char| letter.is_ascii_alphanumeric() || "_.:-".contains(letter);
    starts && name.len() <= 64 && name.chars().all(is_fine)
}

/// Consecutive contents of one role.
struct Group<'c> {
    is_model: bool,
    parts: Vec<&'c Part>,
}

impl Group<'_> {
    fn calls(&self) -> usize {
        self.count(|data| matches!(data, Data::FunctionCall(_)))
    }

    fn responses(&self) -> usize {
        self.count(|data| matches!(data, Data::FunctionResponse(_)))
    }

    fn count(&self, is_one: fn(&Data) -> bool) -> usize {
        self.parts.iter().filter(|part| is_one(&part.data)).count()
    }
}

/// Calls follow the user, and all their responses follow them at once.
fn check_calls(contents: &[Content]) -> Result<(), Refusal> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for content in contents {
        let is_model = content.role == Some(Role::Model);
        match groups.last_mut() {
            // A client may store each streamed chunk as a content.
            Some(group) if group.is_model == is_model => group.parts.extend(&content.parts),
            _ => groups.push(Group {
                is_model,
                parts: content.parts.iter().collect(),
            }),
        }
    }
    if groups.first().is_some_and(|group| group.calls() > 0) {
        return Err(Refusal::invalid(
            "Please ensure that function call turn comes immediately after a user turn or after a \
             function response turn.",
        ));
    }
    for (index, group) in groups.iter().enumerate() {
        let before = index
            .checked_sub(1)
            .map_or(0, |before| groups[before].calls());
        if group.responses() > 0 && before == 0 {
            return Err(Refusal::invalid(
                "Please ensure that function response turn comes immediately after a function call turn.",
            ));
        }
        if group.responses() != before {
            return Err(Refusal::invalid(
                "Please ensure that the number of function response parts is equal to the number of \
                 function call parts of the function call turn.",
            ));
        }
    }
    if groups.last().is_some_and(|group| group.calls() > 0) {
        return Err(Refusal::invalid(
            "Please ensure that function call turn is followed by a function response turn.",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn refusal(body: Value) -> Option<String> {
        let request: GenerateContentRequest = serde_json::from_value(body).unwrap();
        check(&request, false)
            .err()
            .map(|it| it.message().to_owned())
    }

    fn of_contents(contents: Value) -> Option<String> {
        refusal(json!({"contents": contents}))
    }

    fn user(text: &str) -> Value {
        json!({"role": "user", "parts": [{"text": text}]})
    }

    fn calls(count: usize) -> Value {
        let call = json!({"functionCall": {"name": "f", "args": {}}});
        json!({"role": "model", "parts": vec![call; count]})
    }

    fn responses(count: usize) -> Value {
        let response = json!({"functionResponse": {"name": "f", "response": {"output": 1}}});
        json!({"role": "user", "parts": vec![response; count]})
    }

    #[test]
    fn what_google_takes_is_taken() {
        for contents in [
            json!([user("hi")]),
            json!([{"parts": [{"text": "no role"}]}]),
            json!([user("hi"), calls(2), responses(2)]),
            json!([user("hi"), calls(1), calls(1), responses(1), responses(1)]),
            json!([user("hi"), calls(1), {"role": "function", "parts": responses(1)["parts"]}]),
            json!([user("hi"), {"role": "model", "parts": [{"text": "ho"}]}, user("he")]),
        ] {
            assert_eq!(of_contents(contents.clone()), None, "{contents}");
        }
    }

    #[test]
    fn what_google_refuses_is_refused() {
        for (contents, words) in [
            (json!([]), "contents is not specified"),
            (
                json!([{"role": "system", "parts": [{"text": "x"}]}]),
                "valid role",
            ),
            (json!([{"role": "user", "parts": []}]), "must not be empty"),
            (
                json!([{"role": "user", "parts": [{}]}]),
                "oneof field 'data'",
            ),
            (
                json!([{"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": "#"}}]}]),
                "Base64 decoding failed",
            ),
            (
                json!([calls(1), responses(1)]),
                "immediately after a user turn",
            ),
            (
                json!([user("hi"), responses(1)]),
                "after a function call turn",
            ),
            (
                json!([user("hi"), calls(2), responses(1)]),
                "number of function response parts",
            ),
            (
                json!([user("hi"), calls(1), user("ho")]),
                "number of function response parts",
            ),
            (json!([user("hi"), calls(1)]), "followed by"),
        ] {
            let message = of_contents(contents.clone()).unwrap_or_default();
            assert!(message.contains(words), "{contents}: {message}");
        }
    }

    #[test]
    fn tools_have_names_of_their_own() {
        let with = |names: &[&str]| {
            let functions: Vec<_> = names.iter().map(|name| json!({"name": name})).collect();
            refusal(
                json!({"contents": [user("hi")], "tools": [{"functionDeclarations": functions}]}),
            )
        };
        assert_eq!(with(&["a", "b.c:d-e_1"]), None);
        assert!(with(&["1a"]).unwrap().contains("Invalid function name"));
        assert!(
            with(&["a", "a"])
                .unwrap()
                .contains("Duplicate function declaration found: a")
        );
    }

    #[test]
    fn a_field_that_there_is_not_is_named() {
        let message = refusal(json!({"contents": [user("hi")], "messages": []})).unwrap();
        assert!(message.contains("Unknown name \"messages\""), "{message}");
    }
}
