//! How chunks about calls are folded.

use super::{Assembler, Sdk, StreamError, StreamingInput, replace};
use crate::chunk::{
    InputEncoding, ToolApprovalRequest, ToolApprovalResponse, ToolInputAvailable, ToolInputDelta,
    ToolInputError, ToolInputStart, ToolOutputAvailable, ToolOutputError,
};
use crate::part::Part;
use crate::partial_json;
use crate::tool_part::{Approval, ToolPart, ToolState};
use serde_json::Value;

impl StreamingInput {
    /// The input of a call that an earlier window left unfinished.
    pub(super) fn of(part: &ToolPart) -> Self {
        let text = part.raw_input.as_ref().and_then(Value::as_str);
        Self {
            text: text.unwrap_or_default().to_owned(),
            encoding: part.input_encoding,
            tool_name: part.tool_name.clone(),
            dynamic: part.dynamic,
            title: part.title.clone(),
            tool_metadata: part.tool_metadata.clone(),
        }
    }
}

impl Assembler {
    pub(super) fn call_index(&self, tool_call_id: &str) -> Option<usize> {
        let step = self.step_start();
        let is_call = |index: &usize| {
            let part = self.message.parts[*index].as_tool();
            part.is_some_and(|part| part.tool_call_id == tool_call_id)
        };
        let in_step = (step..self.message.parts.len()).find(is_call);
        in_step.or_else(|| (0..step).rev().find(is_call))
    }

    pub(super) fn call_mut(&mut self, tool_call_id: &str) -> Result<&mut ToolPart, StreamError> {
        let index = self.call_index(tool_call_id);
        let part = index.and_then(|index| self.message.parts[index].as_tool_mut());
        part.ok_or_else(|| {
            StreamError(format!(
                "No tool invocation found for tool call ID \"{tool_call_id}\"."
            ))
        })
    }

    /// The part of an announced call: one of the open step and of the same kind, or a new one.
    ///
    /// What an earlier state left is cleared, but for what identifies the call and its approval.
    fn announce(&mut self, tool_call_id: &str, tool_name: &str, dynamic: bool) -> &mut ToolPart {
        let step = self.step_start();
        let known = self.message.parts[step..].iter().position(|part| {
            part.as_tool()
                .is_some_and(|part| part.dynamic == dynamic && part.tool_call_id == tool_call_id)
        });
        let index = match known {
            Some(index) => step + index,
            None => {
                let mut part = ToolPart::new(tool_name, tool_call_id, ToolState::InputStreaming);
                part.dynamic = dynamic;
                self.push(Part::Tool(Box::new(part)));
                self.message.parts.len() - 1
            }
        };
        let Part::Tool(part) = &mut self.message.parts[index] else {
            unreachable!("the index is that of a tool part")
        };
        tool_name.clone_into(&mut part.tool_name);
        part.input = None;
        part.raw_input = None;
        part.input_encoding = None;
        part.output = None;
        part.error_text = None;
        part.preliminary = None;
        part
    }

    pub(super) fn input_start(&mut self, start: &ToolInputStart) {
        let dynamic = start.dynamic == Some(true);
        let input = StreamingInput {
            text: String::new(),
            encoding: start.input_encoding,
            tool_name: start.tool_name.clone(),
            dynamic,
            title: start.title.clone(),
            tool_metadata: start.tool_metadata.clone(),
        };
        self.inputs.insert(start.tool_call_id.clone(), input);
        let part = self.announce(&start.tool_call_id, &start.tool_name, dynamic);
        part.state = ToolState::InputStreaming;
        part.input_encoding = start.input_encoding;
        part.provider_executed = start.provider_executed.or(part.provider_executed);
        replace(&mut part.title, start.title.as_ref());
        replace(&mut part.tool_metadata, start.tool_metadata.as_ref());
        replace(
            &mut part.call_provider_metadata,
            start.provider_metadata.as_ref(),
        );
    }

    pub(super) fn input_delta(&mut self, delta: &ToolInputDelta) -> Result<(), StreamError> {
        let id = &delta.tool_call_id;
        let Some(input) = self.inputs.get_mut(id) else {
            return Err(StreamError(format!(
                "Received tool-input-delta for missing tool call with ID \"{id}\". \
                 Ensure a \"tool-input-start\" chunk is sent before any \"tool-input-delta\" chunks."
            )));
        };
        input.text.push_str(&delta.input_text_delta);
        let input = input.clone();
        let sdk = self.sdk;
        let part = self.announce(id, &input.tool_name, input.dynamic);
        part.state = ToolState::InputStreaming;
        part.input = match input.encoding {
            Some(InputEncoding::Text) => Some(Value::String(input.text.clone())),
            _ => partial_json::parse(&input.text, sdk),
        };
        part.raw_input = Some(Value::String(input.text));
        part.input_encoding = input.encoding;
        replace(&mut part.title, input.title.as_ref());
        replace(&mut part.tool_metadata, input.tool_metadata.as_ref());
        Ok(())
    }

    pub(super) fn input_available(&mut self, available: &ToolInputAvailable) {
        let dynamic = available.dynamic == Some(true);
        let part = self.announce(&available.tool_call_id, &available.tool_name, dynamic);
        part.state = ToolState::InputAvailable;
        part.input = Some(available.input.clone());
        part.provider_executed = available.provider_executed.or(part.provider_executed);
        replace(&mut part.title, available.title.as_ref());
        replace(&mut part.tool_metadata, available.tool_metadata.as_ref());
        replace(
            &mut part.call_provider_metadata,
            available.provider_metadata.as_ref(),
        );
    }

    pub(super) fn input_error(&mut self, error: &ToolInputError) {
        let step = self.step_start();
        let known = self.message.parts[step..].iter().filter_map(Part::as_tool);
        let known = known
            .into_iter()
            .find(|part| part.tool_call_id == error.tool_call_id);
        let dynamic = known.map_or(error.dynamic == Some(true), |part| part.dynamic);
        let sdk = self.sdk;
        let part = self.announce(&error.tool_call_id, &error.tool_name, dynamic);
        part.state = ToolState::OutputError;
        // 6 shows the invalid input of a static tool as what was received, and no input.
        if sdk == Sdk::V6 && !dynamic {
            part.raw_input = Some(error.input.clone());
        } else {
            part.input = Some(error.input.clone());
        }
        part.error_text = Some(error.error_text.clone());
        part.provider_executed = error.provider_executed.or(part.provider_executed);
        replace(&mut part.tool_metadata, error.tool_metadata.as_ref());
        replace(
            &mut part.result_provider_metadata,
            error.provider_metadata.as_ref(),
        );
    }

    pub(super) fn approval_request(
        &mut self,
        request: &ToolApprovalRequest,
    ) -> Result<(), StreamError> {
        let is_v7 = self.sdk == Sdk::V7;
        let part = self.call_mut(&request.tool_call_id)?;
        part.state = ToolState::ApprovalRequested;
        part.approval = Some(Approval {
            descriptor: request.approval_descriptor.clone().filter(|d| !d.is_null()),
            input_schema_input: request.input_schema_input.clone(),
            request_reason: request.reason.clone().filter(|_| is_v7),
            is_automatic: request.is_automatic.filter(|automatic| is_v7 && *automatic),
            signature: request.signature.clone(),
            ..Approval::asked(&request.approval_id)
        });
        Ok(())
    }

    pub(super) fn approval_response(
        &mut self,
        response: &ToolApprovalResponse,
    ) -> Result<(), StreamError> {
        let id = &response.approval_id;
        let mut calls = self.message.parts.iter_mut().filter_map(Part::as_tool_mut);
        let part = calls.find(|part| part.approval.as_ref().is_some_and(|asked| asked.id == *id));
        let Some(part) = part else {
            return Err(StreamError(format!(
                "No tool invocation found for approval ID \"{id}\"."
            )));
        };
        part.state = ToolState::ApprovalResponded;
        let approval = part.approval.get_or_insert_with(|| Approval::asked(id));
        approval.approved = Some(response.approved);
        replace(&mut approval.reason, response.reason.as_ref());
        part.provider_executed = response.provider_executed.or(part.provider_executed);
        replace(
            &mut part.call_provider_metadata,
            response.provider_metadata.as_ref(),
        );
        Ok(())
    }

    pub(super) fn output_available(
        &mut self,
        available: &ToolOutputAvailable,
    ) -> Result<(), StreamError> {
        let part = self.call_mut(&available.tool_call_id)?;
        part.state = ToolState::OutputAvailable;
        part.output = Some(available.output.clone());
        part.error_text = None;
        part.raw_input = None;
        part.input_encoding = None;
        part.preliminary = available.preliminary;
        part.provider_executed = available.provider_executed.or(part.provider_executed);
        replace(&mut part.tool_metadata, available.tool_metadata.as_ref());
        replace(
            &mut part.result_provider_metadata,
            available.provider_metadata.as_ref(),
        );
        Ok(())
    }

    pub(super) fn output_error(&mut self, error: &ToolOutputError) -> Result<(), StreamError> {
        let part = self.call_mut(&error.tool_call_id)?;
        part.state = ToolState::OutputError;
        part.output = None;
        part.error_text = Some(error.error_text.clone());
        if part.dynamic {
            part.raw_input = None;
        }
        part.input_encoding = None;
        part.preliminary = None;
        part.provider_executed = error.provider_executed.or(part.provider_executed);
        replace(&mut part.tool_metadata, error.tool_metadata.as_ref());
        replace(
            &mut part.result_provider_metadata,
            error.provider_metadata.as_ref(),
        );
        Ok(())
    }
}
