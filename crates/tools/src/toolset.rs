//! All tools that an agent may call: those that are always there, and those that come and go.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use turn::agent::ToolDeclaration;
use turn::call::Place;
use turn::policy::{PolicyDecision, Verdict};
use turn::{PageTool, Principal};

use crate::page_rules::PageRules;
use crate::pattern::Pattern;
use crate::schema;
use crate::tool::AnyTool;

/// Tools by name. A map is never changed: a new one replaces it, so that readers share it.
pub type ToolMap = BTreeMap<String, Arc<AnyTool>>;

/// Where tools come from that are not all known at the start: an MCP server, for one.
///
/// The engine reads a source for every model call and every tool call, so reading is cheap: a source
/// keeps its map ready and never waits.
pub trait Source: Send + Sync {
    /// The tools that there are now.
    fn tools(&self) -> Arc<ToolMap>;

    /// A tool that is not in the map and can be run all the same: one of a server that is still starting,
    /// whose call was approved before this process started. Its function waits, or fails and says why.
    fn awaited(&self, name: &str) -> Option<Arc<AnyTool>> {
        let _ = name;
        None
    }

    /// The tool of a name, or why it is not there; nothing, if the name is not one of this source's. One
    /// answer and not two, between which the tools could change.
    fn find(&self, name: &str) -> Option<Result<Arc<AnyTool>, String>> {
        self.tools().get(name).cloned().map(Ok)
    }
}

/// All tools that an agent may call, by name.
///
/// Tools that were added with [`Tools::with`] are always there. Those of [`Tools::with_source`] are looked
/// up whenever they are needed, so that a model is offered what there is at that moment. Where two have one
/// name, the fixed one counts, then the one of the earlier source, then the one that a page declared.
#[derive(Clone, Default)]
pub struct Tools {
    fixed: Arc<ToolMap>,
    sources: Vec<Arc<dyn Source>>,
    /// Nothing else is offered or called. All are, if there is none.
    selection: Option<Arc<[Pattern]>>,
    /// Which tools a page may declare.
    page_rules: Option<Arc<PageRules>>,
    /// What a page declared with the turn that these are for.
    page_tools: Vec<PageTool>,
}

impl fmt::Debug for Tools {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_list().entries(self.current().keys()).finish()
    }
}

impl Tools {
    /// No tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with one more; a tool of the same name is replaced.
    #[must_use]
    pub fn with(mut self, tool: impl Into<AnyTool>) -> Self {
        let tool = tool.into();
        Arc::make_mut(&mut self.fixed).insert(tool.name.clone(), Arc::new(tool));
        self
    }

    /// The same with tools that come and go.
    #[must_use]
    pub fn with_source(mut self, source: Arc<dyn Source>) -> Self {
        self.sources.push(source);
        self
    }

    /// Only those whose names fit one of the patterns, now and later.
    #[must_use]
    pub fn only(mut self, selection: impl IntoIterator<Item = Pattern>) -> Self {
        self.selection = Some(selection.into_iter().collect());
        self
    }

    /// The same, and pages may declare tools.
    #[must_use]
    pub fn with_page_rules(mut self, rules: PageRules) -> Self {
        self.page_rules = Some(Arc::new(rules));
        self
    }

    /// Whether pages may declare tools.
    pub fn takes_page_tools(&self) -> bool {
        self.page_rules.is_some()
    }

    /// What a page declares, as far as it may; or what is wrong with it.
    pub fn accept_page_tools(&self, declared: &Value) -> Result<Vec<PageTool>, String> {
        match &self.page_rules {
            Some(rules) => rules.accept(declared, |name| self.own(name).is_ok()),
            None => Ok(Vec::new()),
        }
    }

    /// The tools of a turn: these, and those that the page declared with it.
    pub fn in_turn(&self, page_tools: &[PageTool]) -> Cow<'_, Self> {
        if page_tools.is_empty() || self.page_rules.is_none() {
            return Cow::Borrowed(self);
        }
        let mut tools = self.clone();
        tools.page_tools = page_tools.to_vec();
        Cow::Owned(tools)
    }

    /// A tool that the page declared with the turn.
    fn of_page(&self, name: &str) -> Option<Arc<AnyTool>> {
        let declared = self.page_tools.iter().find(|tool| tool.name == name)?;
        self.page_rules.as_ref()?.tool(declared)
    }

    fn is_selected(&self, name: &str) -> bool {
        let selection = self.selection.as_deref();
        selection.is_none_or(|patterns| patterns.iter().any(|pattern| pattern.matches(name)))
    }

    /// The tools that there are now.
    pub fn current(&self) -> ToolMap {
        let sources = self.sources.iter().rev().map(|source| source.tools());
        let mut all = ToolMap::new();
        for declared in &self.page_tools {
            let tool = self.of_page(&declared.name);
            all.extend(tool.map(|tool| (declared.name.clone(), tool)));
        }
        for map in sources.chain([self.fixed.clone()]) {
            let tools = map.iter().filter(|(name, _)| self.is_selected(name));
            all.extend(tools.map(|(name, tool)| (name.clone(), tool.clone())));
        }
        all
    }

    /// The tools as they are declared to a model.
    pub fn declarations(&self) -> Vec<ToolDeclaration> {
        let declare = |tool: &Arc<AnyTool>| ToolDeclaration {
            name: tool.name.clone(),
            description: tool.description.clone(),
            input_schema: tool.input_schema.clone(),
            behavior: tool.behavior,
        };
        let is_fixed = self.sources.is_empty() && self.page_tools.is_empty();
        match is_fixed && self.selection.is_none() {
            true => self.fixed.values().map(declare).collect(),
            false => self.current().values().map(declare).collect(),
        }
    }

    /// One of those that there are now, or why there is none of that name.
    pub fn find(&self, name: &str) -> Result<Arc<AnyTool>, String> {
        self.own(name).or_else(|why| self.of_page(name).ok_or(why))
    }

    /// One of those that there are now.
    pub fn get(&self, name: &str) -> Option<Arc<AnyTool>> {
        self.find(name).ok()
    }

    /// One of those that no page declared.
    fn own(&self, name: &str) -> Result<Arc<AnyTool>, String> {
        let none = || Err(format!("There is no tool {name}."));
        if !self.is_selected(name) {
            return none();
        }
        if let Some(fixed) = self.fixed.get(name) {
            return Ok(fixed.clone());
        }
        let mut why = None;
        for found in self.sources.iter().filter_map(|source| source.find(name)) {
            match found {
                Ok(tool) => return Ok(tool),
                Err(said) => why = why.or(Some(said)),
            }
        }
        why.map_or_else(none, Err)
    }

    /// One to run a call with that was decided on already: a tool of a source that is only starting is
    /// waited for.
    pub fn find_to_run(&self, name: &str) -> Result<Arc<AnyTool>, String> {
        self.find(name).or_else(|why| {
            let mut sources = self.sources.iter().filter(|_| self.is_selected(name));
            sources.find_map(|source| source.awaited(name)).ok_or(why)
        })
    }

    /// What the tools and their policies say of a call.
    pub fn rule(&self, name: &str, input: &Value, principal: &Principal) -> PolicyDecision {
        match self.find(name) {
            Ok(tool) => PolicyDecision {
                place: tool.place,
                verdict: tool.judge(input, principal),
                timeout: tool.timeout,
            },
            Err(error) => PolicyDecision {
                place: Place::Server,
                verdict: Verdict::Invalid { error },
                timeout: None,
            },
        }
    }

    /// What is wrong with what a tool asks a page to run. A page may know tools that are not declared
    /// here.
    pub fn check_page_call(&self, name: &str, input: &Value) -> Result<(), String> {
        match self.find(name) {
            Ok(tool) if tool.place == Place::Client => tool.check_input(input),
            _ => schema::check_undeclared_input(input),
        }
    }

    /// What is wrong with what a page gives as the output of a tool.
    pub fn check_output(&self, name: &str, output: &Value) -> Result<(), String> {
        match self.find(name) {
            Ok(tool) if tool.place == Place::Client => tool.check_output(output),
            _ => Ok(()),
        }
    }

    /// Whether an input is one that a tool takes, and what is wrong with it if not.
    pub fn check(&self, name: &str, input: &Value, principal: &Principal) -> Result<(), String> {
        match self.rule(name, input, principal).verdict {
            Verdict::Invalid { error } => Err(error),
            Verdict::Deny { reason } => Err(reason),
            Verdict::Allow | Verdict::Ask { .. } => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use serde_json::json;

    use super::*;
    use crate::{Context, ToolError, tool};

    /// A source whose tools a test changes.
    #[derive(Default)]
    struct Changing(Mutex<Arc<ToolMap>>);

    impl Changing {
        fn set(&self, names: &[&str]) {
            let tools = names
                .iter()
                .map(|name| (name.to_string(), named(name, "live")));
            *self.0.lock().unwrap() = Arc::new(tools.collect());
        }
    }

    impl Source for Changing {
        fn tools(&self) -> Arc<ToolMap> {
            self.0.lock().unwrap().clone()
        }

        fn find(&self, name: &str) -> Option<Result<Arc<AnyTool>, String>> {
            let missing = || format!("crm has no tool {name} now.");
            let is_ours = name.starts_with("crm.");
            is_ours.then(|| self.tools().get(name).cloned().ok_or_else(missing))
        }
    }

    fn named(name: &str, description: &str) -> Arc<AnyTool> {
        let tool = tool(name, description, async |_: Context, input: Value| {
            Ok::<_, ToolError>(input)
        });
        Arc::new(tool.input_schema(json!({"type": "object"})).into())
    }

    fn names(tools: &Tools) -> Vec<String> {
        let declared = tools.declarations().into_iter();
        declared.map(|tool| tool.name).collect()
    }

    #[test]
    fn what_is_offered_and_called_follows_the_source() {
        let source = Arc::new(Changing::default());
        let fixed = named("pay", "fixed").as_ref().clone();
        let tools = Tools::new().with(fixed).with_source(source.clone());
        let person = Principal::from("ann");
        assert_eq!(names(&tools), ["pay"]);
        source.set(&["crm.find"]);
        assert_eq!(names(&tools), ["crm.find", "pay"]);
        assert!(tools.get("crm.find").is_some());
        let ruled = tools.rule("crm.find", &json!({}), &person).verdict;
        assert_eq!(ruled, Verdict::Allow);
        source.set(&[]);
        assert_eq!(names(&tools), ["pay"]);
        let error = "crm has no tool crm.find now.".to_owned();
        let ruled = tools.rule("crm.find", &json!({}), &person).verdict;
        assert_eq!(ruled, Verdict::Invalid { error });
    }

    #[test]
    fn source_can_not_replace_a_fixed_tool() {
        let source = Arc::new(Changing::default());
        source.set(&["pay"]);
        let fixed = named("pay", "fixed").as_ref().clone();
        let tools = Tools::new().with(fixed).with_source(source);
        assert_eq!(tools.get("pay").unwrap().description, "fixed");
        assert_eq!(tools.declarations()[0].description, "fixed");
    }

    #[test]
    fn selection_holds_for_tools_that_come_later() {
        let source = Arc::new(Changing::default());
        let only = [Pattern::new("crm.find*").unwrap()];
        let tools = Tools::new().with_source(source.clone()).only(only);
        source.set(&["crm.delete", "crm.find_order"]);
        assert_eq!(names(&tools), ["crm.find_order"]);
        assert!(tools.get("crm.delete").is_none());
        let why = tools.find("crm.delete").err();
        assert_eq!(why.as_deref(), Some("There is no tool crm.delete."));
    }
}
