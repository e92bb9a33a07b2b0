//! A step request, as the body of a request.

use gemini::{Content, FunctionDeclaration, GenerateContentRequest, GenerationConfig, Part, Tool};
use serde_json::json;
use turn::agent::{StepRequest, ToolDeclaration};

use super::config::Config;
use super::contents::contents;
use crate::model::schema::plain;

/// The body that asks for a step.
pub(crate) fn body(config: &Config, request: &StepRequest) -> Vec<u8> {
    // Maps with text for keys can always be written.
    serde_json::to_vec(&of(config, request)).unwrap_or_default()
}

fn of(config: &Config, request: &StepRequest) -> GenerateContentRequest {
    let instruction = config.system_instruction.as_ref();
    let generation = GenerationConfig {
        temperature: config.temperature,
        max_output_tokens: config.max_output_tokens,
        thinking_config: config.thinking.clone(),
        ..GenerationConfig::default()
    };
    let declarations: Vec<_> = request.tools.iter().map(declaration).collect();
    let tools = (!declarations.is_empty()).then(|| Tool {
        function_declarations: declarations,
        ..Tool::default()
    });
    GenerateContentRequest {
        contents: contents(&request.history),
        system_instruction: instruction.map(|text| Content {
            parts: vec![Part::text(text)],
            ..Content::default()
        }),
        tools: tools.into_iter().collect(),
        generation_config: (generation != GenerationConfig::default()).then_some(generation),
        safety_settings: config.safety.clone(),
        ..GenerateContentRequest::default()
    }
}

pub(crate) fn declaration(tool: &ToolDeclaration) -> FunctionDeclaration {
    let mut schema = tool.input_schema.clone();
    plain(&mut schema);
    let has_fields = schema
        .get("properties")
        .is_some_and(|fields| *fields != json!({}));
    FunctionDeclaration {
        name: Some(tool.name.clone()),
        description: Some(tool.description.clone()).filter(|words| !words.is_empty()),
        // An object without fields is refused by some models; without a schema it is taken by all.
        parameters_json_schema: has_fields.then_some(schema),
        ..FunctionDeclaration::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_sent_without_what_only_rust_knows() {
        let tool = |input_schema| ToolDeclaration {
            name: "f".to_owned(),
            description: String::new(),
            input_schema,
            behavior: turn::agent::Behavior::Blocking,
        };
        let declared = declaration(&tool(json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "amount": {"type": "number", "format": "double"},
                "track": {"type": ["integer", "null"], "format": "uint32", "minimum": 0},
                "format": {"type": "string", "format": "date-time"},
            },
        })));
        assert_eq!(
            declared.parameters_json_schema,
            Some(json!({
                "type": "object",
                "properties": {
                    "amount": {"type": "number"},
                    "track": {"type": ["integer", "null"], "minimum": 0},
                    "format": {"type": "string", "format": "date-time"},
                },
            }))
        );
        let nothing = declaration(&tool(json!({"type": "object", "title": "Nothing"})));
        assert_eq!(nothing.parameters_json_schema, None);
    }
}
