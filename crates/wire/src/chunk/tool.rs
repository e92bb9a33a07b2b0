//! Chunks about calls: their input, their approvals, their output.

use serde_json::{Map, Value};

use crate::decode::{names, record};
use crate::metadata::ProviderMetadata;

record! {
    /// A call begins; its input follows.
    ToolInputStart {
        /// The call.
        tool_call_id: String = "toolCallId",
        /// The tool.
        tool_name: String = "toolName",
        /// How the deltas are to be read (newer releases).
        input_encoding: Option<InputEncoding> = "inputEncoding",
        /// Whether the provider runs it.
        provider_executed: Option<bool> = "providerExecuted",
        /// The provider's metadata (newer releases).
        provider_metadata: Option<ProviderMetadata> = "providerMetadata",
        /// The tool's metadata (newer releases).
        tool_metadata: Option<Box<Map<String, Value>>> = "toolMetadata",
        /// Whether the page has no type for it.
        dynamic: Option<bool> = "dynamic",
        /// What to show.
        title: Option<String> = "title",
    }
}

record! {
    /// More of a call's input, as text.
    ToolInputDelta {
        /// The call.
        tool_call_id: String = "toolCallId",
        /// A piece of the input's JSON.
        input_text_delta: String = "inputTextDelta",
    }
}

record! {
    /// A call's whole input. A page's `onToolCall` fires at this chunk and at nothing else.
    ToolInputAvailable {
        /// The call.
        tool_call_id: String = "toolCallId",
        /// The tool.
        tool_name: String = "toolName",
        /// The input.
        input: Value = "input",
        /// Whether the provider runs it.
        provider_executed: Option<bool> = "providerExecuted",
        /// The provider's metadata.
        provider_metadata: Option<ProviderMetadata> = "providerMetadata",
        /// The tool's metadata (newer releases).
        tool_metadata: Option<Box<Map<String, Value>>> = "toolMetadata",
        /// Whether the page has no type for it.
        dynamic: Option<bool> = "dynamic",
        /// What to show.
        title: Option<String> = "title",
    }
}

record! {
    /// A call whose input is invalid.
    ToolInputError {
        /// The call.
        tool_call_id: String = "toolCallId",
        /// The tool.
        tool_name: String = "toolName",
        /// The input, as the model gave it.
        input: Value = "input",
        /// Whether the provider runs it.
        provider_executed: Option<bool> = "providerExecuted",
        /// The provider's metadata.
        provider_metadata: Option<ProviderMetadata> = "providerMetadata",
        /// The tool's metadata (newer releases).
        tool_metadata: Option<Box<Map<String, Value>>> = "toolMetadata",
        /// Whether the page has no type for it.
        dynamic: Option<bool> = "dynamic",
        /// What is wrong with it.
        error_text: String = "errorText",
        /// What to show.
        title: Option<String> = "title",
    }
}

record! {
    /// Asks a person whether the call may run.
    ToolApprovalRequest {
        /// The gate.
        approval_id: String = "approvalId",
        /// The call.
        tool_call_id: String = "toolCallId",
        /// What the question is about (newer releases).
        approval_descriptor: Option<Box<Value>> = "approvalDescriptor",
        /// The input before it was parsed (newer releases).
        input_schema_input: Option<Box<Value>> = "inputSchemaInput",
        /// Why it is asked (7 only).
        reason: Option<String> = "reason",
        /// Whether a policy answers it (7 only).
        is_automatic: Option<bool> = "isAutomatic",
        /// Proof that the server asked (newer releases).
        signature: Option<String> = "signature",
    }
}

record! {
    /// An answer that the server gave or received (7 only).
    ToolApprovalResponse {
        /// The gate.
        approval_id: String = "approvalId",
        /// The answer.
        approved: bool = "approved",
        /// Why.
        reason: Option<String> = "reason",
        /// Whether the provider runs the call.
        provider_executed: Option<bool> = "providerExecuted",
        /// The provider's metadata.
        provider_metadata: Option<ProviderMetadata> = "providerMetadata",
    }
}

record! {
    /// A call's output.
    ToolOutputAvailable {
        /// The call.
        tool_call_id: String = "toolCallId",
        /// The output.
        output: Value = "output",
        /// Whether the provider ran it.
        provider_executed: Option<bool> = "providerExecuted",
        /// The provider's metadata (newer releases).
        provider_metadata: Option<ProviderMetadata> = "providerMetadata",
        /// The tool's metadata (newer releases).
        tool_metadata: Option<Box<Map<String, Value>>> = "toolMetadata",
        /// Whether the page has no type for it.
        dynamic: Option<bool> = "dynamic",
        /// Whether more is to come: progress.
        preliminary: Option<bool> = "preliminary",
    }
}

record! {
    /// A call that failed.
    ToolOutputError {
        /// The call.
        tool_call_id: String = "toolCallId",
        /// Why.
        error_text: String = "errorText",
        /// Whether the provider ran it.
        provider_executed: Option<bool> = "providerExecuted",
        /// The provider's metadata (newer releases).
        provider_metadata: Option<ProviderMetadata> = "providerMetadata",
        /// The tool's metadata (newer releases).
        tool_metadata: Option<Box<Map<String, Value>>> = "toolMetadata",
        /// Whether the page has no type for it.
        dynamic: Option<bool> = "dynamic",
    }
}

record! {
    /// A call that a person refused.
    ToolOutputDenied {
        /// The call.
        tool_call_id: String = "toolCallId",
    }
}

names! {
    /// How the deltas of a call's input are to be read.
    InputEncoding, "\"json\" or \"text\"" {
        /// As pieces of JSON, which is also what its absence means.
        Json = "json",
        /// As plain text.
        Text = "text",
    }
}
