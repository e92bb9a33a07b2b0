//! A call as a part of a message, in any of its states.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::{Map, Value};

use crate::chunk::InputEncoding;
use crate::decode::{DecodeError, Field, Fields, Id, Nulls, Path, Problem, names, record};
use crate::metadata::ProviderMetadata;

names! {
    /// How far a call has come.
    ToolState, "a tool state" {
        /// The model is writing the input.
        InputStreaming = "input-streaming",
        /// The input is whole: the call runs, or a page is to run it.
        InputAvailable = "input-available",
        /// A person is asked.
        ApprovalRequested = "approval-requested",
        /// A person has answered.
        ApprovalResponded = "approval-responded",
        /// It has an output, which is progress if it is preliminary.
        OutputAvailable = "output-available",
        /// It failed.
        OutputError = "output-error",
        /// It was refused.
        OutputDenied = "output-denied",
    }
}

/// A call as a part of a message.
///
/// The SDK's types allow each field in some states only. Clients hold other combinations all the
/// same (an announced call keeps the approval that it had), so all of them can be read here; what
/// this server sends is checked against the real validator.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolPart {
    /// The tool.
    pub tool_name: String,
    /// Whether it is a `dynamic-tool` part and not a `tool-NAME` one.
    pub dynamic: bool,
    /// The call.
    pub tool_call_id: String,
    /// How far it has come.
    pub state: ToolState,
    /// What to show.
    pub title: Option<String>,
    /// The tool's metadata.
    pub tool_metadata: Option<Box<Map<String, Value>>>,
    /// Whether the provider runs it.
    pub provider_executed: Option<bool>,
    /// The input, partial while it streams.
    pub input: Option<Value>,
    /// The input's text so far, or the invalid input of a call that failed.
    pub raw_input: Option<Value>,
    /// How the input's text is to be read.
    pub input_encoding: Option<InputEncoding>,
    /// The output.
    pub output: Option<Value>,
    /// Why it failed.
    pub error_text: Option<String>,
    /// Whether more output is to come.
    pub preliminary: Option<bool>,
    /// The provider's metadata of the call.
    pub call_provider_metadata: Option<ProviderMetadata>,
    /// The provider's metadata of the output.
    pub result_provider_metadata: Option<ProviderMetadata>,
    /// The question and its answer.
    pub approval: Option<Approval>,
    /// Fields that this crate does not know, as they came.
    pub extra: Map<String, Value>,
}

record! {
    /// The question that holds a call, and its answer.
    Approval {
        /// The gate.
        id: String = "id",
        /// The answer, once it is given.
        approved: Option<bool> = "approved",
        /// Why it was answered so.
        reason: Option<String> = "reason",
        /// What the question is about.
        descriptor: Option<Box<Value>> = "descriptor",
        /// The input before it was parsed.
        input_schema_input: Option<Box<Value>> = "inputSchemaInput",
        /// Why it is asked (7 only).
        request_reason: Option<String> = "requestReason",
        /// Whether a policy answers it (7 only).
        is_automatic: Option<bool> = "isAutomatic",
        /// Proof that the server asked.
        signature: Option<String> = "signature",
        ..
    }
}

impl Approval {
    /// A question that is not answered yet.
    pub fn asked(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            ..Self::default()
        }
    }
}

impl ToolPart {
    /// A `tool-NAME` part with nothing but its state.
    pub fn new(
        tool_name: impl Into<String>,
        tool_call_id: impl Into<String>,
        state: ToolState,
    ) -> Self {
        Self {
            tool_name: tool_name.into(),
            dynamic: false,
            tool_call_id: tool_call_id.into(),
            state,
            title: None,
            tool_metadata: None,
            provider_executed: None,
            input: None,
            raw_input: None,
            input_encoding: None,
            output: None,
            error_text: None,
            preliminary: None,
            call_provider_metadata: None,
            result_provider_metadata: None,
            approval: None,
            extra: Map::new(),
        }
    }

    /// Whether nothing more can happen to the call.
    pub fn is_settled(&self) -> bool {
        match self.state {
            ToolState::OutputAvailable => self.preliminary != Some(true),
            ToolState::OutputError | ToolState::OutputDenied => true,
            _ => false,
        }
    }

    /// Makes the part one that every release of the SDK accepts: `null` where a key is wanted and
    /// there is no value (JSON has no `undefined`), and no approval where none may be.
    pub fn complete(&mut self) {
        // The first release wants the input of a failed call too.
        if self.needs_input() || self.state == ToolState::OutputError {
            self.input.get_or_insert_default();
        }
        if self.state == ToolState::OutputAvailable {
            self.output.get_or_insert_default();
        }
        // An output may only carry an approval that was granted: one that timed out was not. A call
        // that is announced may carry none at all, though clients themselves keep it.
        let may_carry = |approved: Option<bool>| match self.state {
            ToolState::InputStreaming | ToolState::InputAvailable => false,
            ToolState::OutputAvailable | ToolState::OutputError => approved == Some(true),
            _ => true,
        };
        let approval = self.approval.take();
        self.approval = approval.filter(|approval| may_carry(approval.approved));
    }

    pub(crate) fn take_dynamic(mut fields: Fields<'_>) -> Result<Self, DecodeError> {
        let name: String = fields.take("toolName")?;
        let mut part = Self::take_static(name, fields)?;
        part.dynamic = true;
        Ok(part)
    }

    /// The tool's name is in the part's type. A `toolName` beside it is kept as it came: older
    /// pages send one, and it may name another tool.
    pub(crate) fn take_static(name: String, mut fields: Fields<'_>) -> Result<Self, DecodeError> {
        let path = fields.path();
        let mut part = Self::new(
            name,
            fields.take::<Id>("toolCallId")?.0,
            take_state(&mut fields)?,
        );
        part.title = fields.take("title")?;
        part.tool_metadata = fields.take("toolMetadata")?;
        part.provider_executed = fields.take("providerExecuted")?;
        part.input = fields.take("input")?;
        part.raw_input = fields.take("rawInput")?;
        part.input_encoding = fields.take("inputEncoding")?;
        part.output = fields.take("output")?;
        part.error_text = fields.take("errorText")?;
        part.preliminary = fields.take("preliminary")?;
        part.call_provider_metadata = fields.take("callProviderMetadata")?;
        part.result_provider_metadata = fields.take("resultProviderMetadata")?;
        part.approval = fields.take("approval")?;

        let missing = |key| Err(path.key(key).error(Problem::Missing));
        match part.state {
            ToolState::OutputError if part.error_text.is_none() => return missing("errorText"),
            ToolState::ApprovalRequested | ToolState::OutputDenied if part.approval.is_none() => {
                return missing("approval");
            }
            ToolState::ApprovalResponded => match &part.approval {
                None => return missing("approval"),
                Some(Approval { approved: None, .. }) => return missing("approval.approved"),
                Some(_) => {}
            },
            _ => {}
        }
        part.extra = fields.rest();
        Ok(part)
    }

    /// Whether the SDK's validator wants the `input` key in this state.
    pub fn needs_input(&self) -> bool {
        !matches!(
            self.state,
            ToolState::InputStreaming | ToolState::OutputError
        )
    }
}

/// Older pages call an announced call's state `call`.
fn take_state(fields: &mut Fields<'_>) -> Result<ToolState, DecodeError> {
    if fields.peek("state").and_then(Value::as_str) == Some("call") {
        fields.take::<String>("state")?;
        return Ok(ToolState::InputAvailable);
    }
    fields.take("state")
}

impl Field for Approval {
    const EXPECTED: &'static str = "an approval";

    fn from_value(value: Value, path: Path<'_>, nulls: Nulls) -> Result<Self, DecodeError> {
        let approval = Self::take(Fields::of(value, path, nulls)?)?;
        Id::check(&approval.id, path.key("id"))?;
        Ok(approval)
    }
}

impl Serialize for ToolPart {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        macro_rules! optional {
            ($key:literal, $field:ident) => {
                if let Some(value) = &self.$field {
                    map.serialize_entry($key, value)?;
                }
            };
        }
        if self.dynamic {
            map.serialize_entry("type", "dynamic-tool")?;
            map.serialize_entry("toolName", &self.tool_name)?;
        } else {
            map.serialize_entry("type", &format_args!("tool-{}", self.tool_name))?;
        }
        map.serialize_entry("toolCallId", &self.tool_call_id)?;
        map.serialize_entry("state", &self.state)?;
        optional!("title", title);
        optional!("toolMetadata", tool_metadata);
        optional!("providerExecuted", provider_executed);
        optional!("input", input);
        optional!("rawInput", raw_input);
        optional!("inputEncoding", input_encoding);
        optional!("output", output);
        optional!("errorText", error_text);
        optional!("preliminary", preliminary);
        optional!("callProviderMetadata", call_provider_metadata);
        optional!("resultProviderMetadata", result_provider_metadata);
        optional!("approval", approval);
        for (key, value) in &self.extra {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}
