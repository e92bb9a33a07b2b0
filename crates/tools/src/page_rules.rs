//! Tools that a page declares in its request, as far as the operator takes them.
//!
//! Pages send them as `tools`, beside the messages: by name, as assistant-ui does
//! (`{"pick_color": {"description", "parameters"}}`), or as a list with names. A page may declare whatever
//! it has; what the operator does not name is left out without an error. What is named has to be right:
//! a tool that is dropped in silence would be looked for in the model.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};
use turn::PageTool;

use crate::pattern::Pattern;
use crate::policy::{Policies, Policy};
use crate::schema::{self, Schema};
use crate::tool::{AnyTool, client_tool};

/// How many tools a page may declare.
pub const MAX_PAGE_TOOLS: usize = 64;

/// How long the name of a tool may be: the least that the models' APIs take.
const MAX_NAME_BYTES: usize = 64;

/// How long the description of a tool may be.
const MAX_DESCRIPTION_BYTES: usize = 4 * 1024;

/// How large all that a page declares may be: it is journaled with each turn.
const MAX_DECLARED_BYTES: usize = 64 * 1024;

/// Which tools a page may declare, and what holds for their calls.
#[derive(Debug, Clone, Default)]
pub struct PageRules {
    names: Vec<Pattern>,
    policies: Policies,
    /// Tools of the operator: offered to pages that declare them, with the operator's words and schema.
    known: BTreeMap<String, Arc<AnyTool>>,
}

impl PageRules {
    /// Pages may declare tools of these names. Every call is asked about.
    pub fn new(names: impl IntoIterator<Item = Pattern>) -> Self {
        Self {
            names: names.into_iter().collect(),
            ..Self::default()
        }
    }

    /// The same with policies for the tools that are not the operator's own.
    #[must_use]
    pub fn with_policies(mut self, policies: Policies) -> Self {
        self.policies = policies;
        self
    }

    /// The same with a tool of the operator's: a page that declares it has to declare the same input, and
    /// everything else is as it is here.
    #[must_use]
    pub fn with_known(mut self, tool: AnyTool) -> Self {
        self.known.insert(tool.name.clone(), Arc::new(tool));
        self
    }

    /// The names that pages may declare.
    pub fn names(&self) -> &[Pattern] {
        &self.names
    }

    /// What holds for the calls of tools that are not the operator's own.
    pub fn policies(&self) -> &Policies {
        &self.policies
    }

    /// The tools of the operator's that a page may declare.
    pub fn known(&self) -> impl Iterator<Item = &AnyTool> {
        self.known.values().map(|tool| &**tool)
    }

    /// Whether a page may declare a tool of a name.
    pub(crate) fn takes(&self, name: &str) -> bool {
        let is_named = self.names.iter().any(|pattern| pattern.matches(name));
        is_named && (self.known.contains_key(name) || self.policies.of(name) != Policy::Deny)
    }

    /// What a page declares, as far as it may, without tools that the agent has anyway; or what is wrong
    /// with it.
    pub(crate) fn accept(
        &self,
        declared: &Value,
        is_own: impl Fn(&str) -> bool,
    ) -> Result<Vec<PageTool>, String> {
        let mut accepted: BTreeMap<String, PageTool> = BTreeMap::new();
        let mut bytes = 0;
        for (name, fields) in by_name(declared)? {
            if !self.takes(name) || is_own(name) {
                continue;
            }
            let tool = self.read(name, fields);
            let tool = tool.map_err(|why| format!("tools.{name}: {why}"))?;
            bytes += tool.description.len() + tool.input_schema.to_string().len();
            if bytes > MAX_DECLARED_BYTES {
                return Err(format!(
                    "tools: the declarations are larger than {MAX_DECLARED_BYTES} bytes"
                ));
            }
            if accepted.insert(name.to_owned(), tool).is_some() {
                return Err(format!("tools.{name}: declared twice"));
            }
            if accepted.len() > MAX_PAGE_TOOLS {
                return Err(format!("tools: more than {MAX_PAGE_TOOLS} tools"));
            }
        }
        Ok(accepted.into_values().collect())
    }

    fn read(&self, name: &str, fields: &Value) -> Result<PageTool, String> {
        check_name(name)?;
        let fields = fields
            .as_object()
            .ok_or("expected an object with description and parameters")?;
        let input = input_schema(fields)?;
        if let Some(known) = self.known.get(name) {
            if !schema::is_same_input(&input, &known.input_schema) {
                return Err("its input schema is not the one that the agent declares".to_owned());
            }
            return Ok(PageTool {
                name: name.to_owned(),
                description: known.description.clone(),
                input_schema: known.input_schema.clone(),
            });
        }
        let description = match fields.get("description") {
            None | Some(Value::Null) => "",
            Some(Value::String(text)) => text.trim(),
            Some(_) => return Err("description: expected a string".to_owned()),
        };
        if description.len() > MAX_DESCRIPTION_BYTES {
            return Err(format!(
                "its description is longer than {MAX_DESCRIPTION_BYTES} bytes"
            ));
        }
        if let Some(error) = Schema::of_input(&input).error() {
            let error = schema::cut(error);
            return Err(format!("its input is not a JSON Schema: {error}"));
        }
        Ok(PageTool {
            name: name.to_owned(),
            description: description.to_owned(),
            input_schema: input,
        })
    }

    /// A tool that a page declared with its turn, if the operator still takes it.
    pub(crate) fn tool(&self, declared: &PageTool) -> Option<Arc<AnyTool>> {
        if !self.takes(&declared.name) {
            return None;
        }
        if let Some(known) = self.known.get(&declared.name) {
            return Some(known.clone());
        }
        let (policy, name) = (self.policies.of(&declared.name), declared.name.clone());
        let tool = client_tool::<Value>(&declared.name, &declared.description)
            .input_schema(declared.input_schema.clone())
            .policy(move |input, _| policy.verdict(&name, input, None));
        Some(Arc::new(tool.into()))
    }
}

/// What is declared, with names: an object by name, or a list.
fn by_name(declared: &Value) -> Result<Vec<(&str, &Value)>, String> {
    match declared {
        Value::Null => Ok(Vec::new()),
        Value::Object(tools) => Ok(tools
            .iter()
            .map(|(name, fields)| (name.as_str(), fields))
            .collect()),
        Value::Array(tools) => {
            let named = tools.iter().enumerate().map(|(place, fields)| {
                // OpenAI's APIs wrap a function.
                let fields = fields.get("function").unwrap_or(fields);
                let name = fields.get("name").and_then(Value::as_str);
                let name = name.ok_or_else(|| format!("tools[{place}]: it has no name"))?;
                Ok((name, fields))
            });
            named.collect()
        }
        _ => Err("tools: expected an object of tools by name, or a list".to_owned()),
    }
}

/// No dot is in the name of a page's tool: `server.tool` is one of an MCP server or an API.
fn check_name(name: &str) -> Result<(), String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(is_plain)
        && name.len() <= MAX_NAME_BYTES;
    match is_name {
        true => Ok(()),
        false => Err(format!(
            "a name is letters, digits, _ and -, a letter or _ first, {MAX_NAME_BYTES} at most"
        )),
    }
}

/// The schema of a tool's input: `parameters` of assistant-ui, or `inputSchema` of the AI SDK, which
/// wraps a schema as `{"jsonSchema": …}`.
fn input_schema(fields: &Map<String, Value>) -> Result<Value, String> {
    let declared = fields
        .get("parameters")
        .or_else(|| fields.get("inputSchema"));
    let declared = declared.ok_or("it has no input schema: parameters, or inputSchema")?;
    let declared = declared.get("jsonSchema").unwrap_or(declared);
    let Value::Object(mut schema) = declared.clone() else {
        return Err("its input schema is not an object".to_owned());
    };
    // Inputs are checked by one draft, and models are sent none.
    schema.shift_remove("$schema");
    // A schema that does not say so means it all the same: arguments are an object.
    schema.entry("type").or_insert_with(|| "object".into());
    match schema["type"] == "object" {
        true => Ok(Value::Object(schema)),
        false => Err("its input schema has not the type \"object\"".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use turn::Principal;
    use turn::call::Place;
    use turn::policy::Verdict;

    use super::*;
    use crate::{Context, ToolError, Tools, tool};

    fn pattern(text: &str) -> Pattern {
        Pattern::new(text).unwrap()
    }

    fn rules() -> PageRules {
        let policies = Policies::new()
            .with(pattern("get_*"), Policy::Allow)
            .with(pattern("get_secret"), Policy::Deny);
        PageRules::new([pattern("get_*"), pattern("pick_color")]).with_policies(policies)
    }

    fn tools() -> Tools {
        let own = tool("get_rate", "Ours.", async |_: Context, input: Value| {
            Ok::<_, ToolError>(input)
        });
        let own = own.input_schema(json!({"type": "object"}));
        Tools::new().with(own).with_page_rules(rules())
    }

    fn accept(declared: Value) -> Result<Vec<PageTool>, String> {
        tools().accept_page_tools(&declared)
    }

    fn color() -> Value {
        json!({"description": "Picks.", "parameters": {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {"what": {"type": "string"}},
            "required": ["what"],
        }})
    }

    #[test]
    fn every_form_in_which_pages_declare_tools_is_read() {
        let schema = json!({
            "type": "object",
            "properties": {"what": {"type": "string"}},
            "required": ["what"],
        });
        let expected = [PageTool {
            name: "pick_color".to_owned(),
            description: "Picks.".to_owned(),
            input_schema: schema.clone(),
        }];
        let named = json!({"name": "pick_color", "description": "Picks.", "parameters": schema});
        for declared in [
            json!({"pick_color": color()}),
            json!({"pick_color": {"description": "Picks.", "inputSchema": schema}}),
            json!({"pick_color": {"description": "Picks.", "inputSchema": {"jsonSchema": schema}}}),
            json!([named]),
            json!([{"type": "function", "function": named}]),
        ] {
            assert_eq!(accept(declared.clone()).unwrap(), expected, "{declared}");
        }
        assert_eq!(accept(Value::Null).unwrap(), []);
    }

    #[test]
    fn what_the_operator_does_not_name_is_left_out_without_an_error() {
        let declared = json!({
            "delete_all": {"parameters": "no schema"},
            "get_secret": color(),
            "get_rate": color(),
            "get_theme": {"parameters": {}},
        });
        let accepted = accept(declared).unwrap();
        let names: Vec<_> = accepted.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["get_theme"]);
        // Without rules, `tools` is an application's own field.
        assert_eq!(Tools::new().accept_page_tools(&json!(5)), Ok(Vec::new()));
    }

    #[test]
    fn what_is_named_has_to_be_right() {
        let big = "x".repeat(5000);
        let many: Map<String, Value> = (0..65)
            .map(|n| (format!("get_{n}"), json!({"parameters": {}})))
            .collect();
        let large: Map<String, Value> = (0..17)
            .map(|n| {
                let fields = json!({"description": "y".repeat(4000), "parameters": {}});
                (format!("get_{n}"), fields)
            })
            .collect();
        for (declared, expected) in [
            (json!("get_theme"), "expected an object"),
            (json!(["get_theme"]), "tools[0]: it has no name"),
            (json!({"get_theme": true}), "tools.get_theme: expected"),
            (json!({"get_theme": {}}), "no input schema"),
            (json!({"get_theme": {"parameters": []}}), "not an object"),
            (
                json!({"get_theme": {"parameters": {"type": "string"}}}),
                "the type \"object\"",
            ),
            (
                json!({"get_theme": {"parameters": {"properties": {"a": {"type": 5}}}}}),
                "not a JSON Schema",
            ),
            (
                json!({"get_theme": {"parameters": {"$ref": "http://127.0.0.1:9/x"}}}),
                "not a JSON Schema",
            ),
            (
                json!({"get_theme": {"description": 5, "parameters": {}}}),
                "description: expected",
            ),
            (
                json!({"get_theme": {"description": big, "parameters": {}}}),
                "longer than 4096",
            ),
            (json!({"get_a.b": {"parameters": {}}}), "a name is letters"),
            (
                json!([{"name": "get_a", "parameters": {}}, {"name": "get_a", "parameters": {}}]),
                "declared twice",
            ),
            (Value::Object(many), "more than 64"),
            (Value::Object(large), "larger than 65536"),
        ] {
            let error = accept(declared.clone()).expect_err(&declared.to_string());
            assert!(error.contains(expected), "{declared}: {error}");
        }
    }

    #[test]
    fn declared_tool_is_offered_and_asked_about_in_its_turn_only() {
        let tools = tools();
        let declared = json!({"pick_color": color(), "get_theme": {"parameters": {}}});
        let accepted = tools.accept_page_tools(&declared).unwrap();
        let in_turn = tools.in_turn(&accepted);
        let names = |tools: &Tools| -> Vec<String> {
            let declared = tools.declarations().into_iter();
            declared.map(|tool| tool.name).collect()
        };
        assert_eq!(names(&in_turn), ["get_rate", "get_theme", "pick_color"]);
        assert_eq!(names(&tools), ["get_rate"]);
        let ann = Principal::from("ann");
        let ruled = in_turn.rule("pick_color", &json!({"what": "sky"}), &ann);
        assert_eq!(ruled.place, Place::Client);
        assert!(matches!(ruled.verdict, Verdict::Ask { .. }), "{ruled:?}");
        let ruled = in_turn.rule("pick_color", &json!({"colour": "sky"}), &ann);
        assert!(matches!(ruled.verdict, Verdict::Invalid { .. }));
        let ruled = in_turn.rule("get_theme", &json!({}), &ann);
        assert_eq!(ruled.verdict, Verdict::Allow);
        let ruled = tools.rule("pick_color", &json!({"what": "sky"}), &ann);
        assert!(matches!(ruled.verdict, Verdict::Invalid { .. }));
        // An operator that has changed the rules since is obeyed.
        let stricter = Tools::new().with_page_rules(PageRules::new([pattern("get_*")]));
        assert_eq!(names(&stricter.in_turn(&accepted)), ["get_theme"]);
    }

    #[test]
    fn tool_of_the_operator_has_to_be_declared_with_the_same_input() {
        let schema = json!({
            "type": "object",
            "properties": {"what": {"type": "string"}},
            "required": ["what"],
        });
        let known = client_tool::<Value>("pick_color", "The operator's words.")
            .input_schema(schema)
            .policy(|_, _| Verdict::Allow);
        let rules = rules().with_known(known.into());
        let tools = Tools::new().with_page_rules(rules);
        let mut declared = color();
        // What is not declared is refused anyway, so saying it changes nothing.
        declared["parameters"]["additionalProperties"] = json!(false);
        let declared = json!({"pick_color": declared});
        let accepted = tools.accept_page_tools(&declared).unwrap();
        assert_eq!(accepted[0].description, "The operator's words.");
        let in_turn = tools.in_turn(&accepted);
        let ruled = in_turn.rule(
            "pick_color",
            &json!({"what": "sky"}),
            &Principal::from("ann"),
        );
        assert_eq!(ruled.verdict, Verdict::Allow);
        let other =
            json!({"pick_color": {"parameters": {"properties": {"what": {"type": "number"}}}}});
        let error = tools.accept_page_tools(&other).unwrap_err();
        assert!(
            error.contains("not the one that the agent declares"),
            "{error}"
        );
    }
}
