//! Tools that a page declared when it sent the message of a turn.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tool that a page declared and runs. It is offered in the turn that the declaration came with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PageTool {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON Schema of its input.
    pub input_schema: Value,
}

/// The tools of one turn. Turns that follow one another share them, where the page declared the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct PageTools(Option<Arc<Declared>>);

#[derive(Debug)]
struct Declared {
    tools: Box<[PageTool]>,
    /// Their size as JSON, in bytes.
    weight: usize,
}

impl PageTools {
    /// What a page declared, after the turn before it.
    pub(crate) fn new(declared: &[PageTool], before: Option<&Self>) -> Self {
        if declared.is_empty() {
            return Self::default();
        }
        if let Some(known) = before.filter(|known| known.as_slice() == declared) {
            return known.clone();
        }
        let size = |tool: &PageTool| {
            tool.name.len() + tool.description.len() + tool.input_schema.to_string().len()
        };
        Self(Some(Arc::new(Declared {
            tools: declared.into(),
            weight: declared.iter().map(size).sum(),
        })))
    }

    pub(crate) fn as_slice(&self) -> &[PageTool] {
        self.0.as_ref().map_or(&[], |declared| &declared.tools)
    }

    /// How many bytes they take, beside those that another turn has already.
    pub(crate) fn weight(&self, before: Option<&Self>) -> usize {
        match (&self.0, before.and_then(|before| before.0.as_ref())) {
            (Some(own), Some(known)) if Arc::ptr_eq(own, known) => 0,
            (Some(own), _) => own.weight,
            (None, _) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str) -> PageTool {
        PageTool {
            name: name.to_owned(),
            description: String::new(),
            input_schema: json!({"type": "object"}),
        }
    }

    #[test]
    fn same_declarations_are_kept_once() {
        let first = PageTools::new(&[tool("a"), tool("b")], None);
        let again = PageTools::new(&[tool("a"), tool("b")], Some(&first));
        let other = PageTools::new(&[tool("c")], Some(&again));
        assert_eq!(again.as_slice(), first.as_slice());
        assert_eq!(first.weight(None), 2 * (1 + r#"{"type":"object"}"#.len()));
        assert_eq!(again.weight(Some(&first)), 0);
        assert!(other.weight(Some(&again)) > 0);
        assert_eq!(PageTools::new(&[], Some(&other)).as_slice(), []);
    }
}
