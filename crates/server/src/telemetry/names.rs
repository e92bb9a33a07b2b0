//! What spans and their attributes are called. OpenTelemetry's conventions for generative AI are in
//! development and change their names: this is the one place that has them. They have none for
//! approvals; ours begin with `adk_stream`.

/// What is done.
pub(super) const OPERATION: &str = "gen_ai.operation.name";
/// Who provides the model.
pub(super) const PROVIDER: &str = "gen_ai.provider.name";
/// The chat.
pub(super) const CONVERSATION: &str = "gen_ai.conversation.id";
/// The agent's name.
pub(super) const AGENT: &str = "gen_ai.agent.name";
/// The model that was asked.
pub(super) const REQUEST_MODEL: &str = "gen_ai.request.model";
/// The model that answered.
pub(super) const RESPONSE_MODEL: &str = "gen_ai.response.model";
/// Why it stopped.
pub(super) const FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
/// Tokens that the model read.
pub(super) const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
/// Tokens that the model wrote.
pub(super) const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
/// A tool's name.
pub(super) const TOOL: &str = "gen_ai.tool.name";
/// What kind of tool it is.
pub(super) const TOOL_TYPE: &str = "gen_ai.tool.type";
/// A call's id.
pub(super) const CALL: &str = "gen_ai.tool.call.id";
/// Why something failed.
pub(super) const ERROR_TYPE: &str = "error.type";

/// Contents, which are exported only on request: what the user said.
pub(super) const INPUT_MESSAGES: &str = "gen_ai.input.messages";
/// What the model said.
pub(super) const OUTPUT_MESSAGES: &str = "gen_ai.output.messages";
/// A call's input.
pub(super) const CALL_ARGUMENTS: &str = "gen_ai.tool.call.arguments";
/// A call's output.
pub(super) const CALL_RESULT: &str = "gen_ai.tool.call.result";

/// The turn.
pub(super) const TURN: &str = "adk_stream.turn.id";
/// Which stretch of the turn it is, from 0.
pub(super) const STRETCH: &str = "adk_stream.stretch.number";
/// How the stretch ended: parked, finished, failed, stopped or lost.
pub(super) const STRETCH_END: &str = "adk_stream.stretch.end";
/// Which step of the turn it is, from 0.
pub(super) const STEP: &str = "adk_stream.step.number";
/// Where a call runs: server, client or agent.
pub(super) const PLACE: &str = "adk_stream.call.place";
/// What became of a call.
pub(super) const OUTCOME: &str = "adk_stream.call.outcome";
/// The gate.
pub(super) const GATE: &str = "adk_stream.gate.id";
/// Whether a person or a page is asked.
pub(super) const GATE_KIND: &str = "adk_stream.gate.kind";
/// What was decided.
pub(super) const DECISION: &str = "adk_stream.gate.decision";
/// How long the decision took, in seconds.
pub(super) const DELAY: &str = "adk_stream.gate.delay";
/// An event: a server took up, after a restart, what was running.
pub(super) const RESUMED: &str = "adk_stream.resumed";

/// A running stretch of a turn.
pub(super) const INVOKE_AGENT: &str = "invoke_agent";
/// A call.
pub(super) const EXECUTE_TOOL: &str = "execute_tool";
/// An approval.
pub(super) const AWAIT_APPROVAL: &str = "await_approval";
/// A question that asks for data.
pub(super) const AWAIT_ANSWER: &str = "await_answer";
/// A client call.
pub(super) const AWAIT_CLIENT: &str = "await_client";

/// The operation that a step is, and the provider, by the name under which an agent is configured.
pub(super) fn step_of(agent: &str) -> (&'static str, Option<&'static str>) {
    match agent {
        "gemini" | "gemini-live" => ("generate_content", Some("gcp.gemini")),
        "openai" => ("chat", Some("openai")),
        "anthropic" => ("chat", Some("anthropic")),
        "demo" => ("chat", Some("adk_stream.demo")),
        _ => (INVOKE_AGENT, None),
    }
}
