//! `page-tools` of an agent: which tools a page may declare in its request.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use tools::PageRules;
use tools::pattern::Pattern;
use tools::policy::Policy;

use super::agent::Builder;
use super::at::At;
use super::spec::{AgentSpec, Named};
use super::{Entry, client_tool, policy};

/// Which tools a page may declare: a list of names, or a table.
#[derive(Debug, Clone)]
pub(crate) struct PageToolsSpec(PageToolsTable);

/// The table.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct PageToolsTable {
    /// The names that a page may declare, with * for any characters.
    names: Vec<At<String>>,
    /// Tools that run without a question.
    #[serde(default)]
    allow: Vec<At<String>>,
    /// Questions for tools; every other one is asked about in plain words.
    #[serde(default)]
    ask: Named<At<String>>,
    /// Tools that a page may not declare, although a pattern fits them.
    #[serde(default)]
    deny: Vec<At<String>>,
}

// By hand, since an untagged enum would lose where each name is written.
impl<'de> Deserialize<'de> for PageToolsSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;

        impl<'de> Visitor<'de> for Read {
            type Value = PageToolsSpec;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a list of names, or a table with names, allow, ask and deny")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, names: A) -> Result<PageToolsSpec, A::Error> {
                let names = Vec::deserialize(SeqAccessDeserializer::new(names))?;
                Ok(PageToolsSpec(PageToolsTable {
                    names,
                    ..PageToolsTable::default()
                }))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<PageToolsSpec, A::Error> {
                PageToolsTable::deserialize(MapAccessDeserializer::new(map)).map(PageToolsSpec)
            }
        }

        deserializer.deserialize_any(Read)
    }
}

impl JsonSchema for PageToolsSpec {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "PageToolsSpec".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        #[derive(JsonSchema)]
        #[serde(untagged)]
        #[expect(dead_code, reason = "only its schema is wanted")]
        enum Either {
            Names(Vec<String>),
            Table(PageToolsTable),
        }
        Either::json_schema(generator)
    }
}

/// The rules, for tools beside those that the agent has anyway.
pub(super) fn build(
    builder: &mut Builder<'_>,
    entry: &Entry<AgentSpec>,
    selection: &[Pattern],
) -> Option<PageRules> {
    let PageToolsSpec(spec) = entry.spec.page_tools.as_ref()?;
    let source = builder.file.source(entry.source);
    let mut names = Vec::new();
    for name in &spec.names {
        names.extend(builder.note(policy::pattern(source, name)));
    }
    let mut policies = policy::several(
        source,
        &spec.allow,
        &spec.ask,
        &spec.deny,
        &mut builder.problems,
    );
    let is_named = |name: &str| names.iter().any(|pattern| pattern.matches(name));
    // A question or a permission for a tool that no page may declare is a misspelled one.
    let said = spec.allow.iter().chain(spec.ask.keys()).chain(&spec.deny);
    for name in said.filter(|name| !name.contains('*') && !is_named(name)) {
        let message = format!("`{}` fits none of names", name.value);
        builder.problem(entry.source, &name.span, message);
    }
    let mut known = Vec::new();
    let file = builder.file;
    let is_selected = |name: &str| selection.iter().any(|pattern| pattern.matches(name));
    let own = file.client.iter().filter(|(name, _)| is_named(name));
    for (name, client) in own.filter(|(name, _)| !is_selected(name)) {
        let Some(built) = client_tool::build(builder, name, client) else {
            continue;
        };
        match built.policy {
            // What the file denies, no page may declare under the same name.
            Policy::Deny => {
                if let Ok(name) = Pattern::new(name) {
                    policies = policies.with(name, Policy::Deny);
                }
            }
            _ => known.push(built.tool),
        }
    }
    let rules = PageRules::new(names).with_policies(policies);
    Some(known.into_iter().fold(rules, PageRules::with_known))
}
