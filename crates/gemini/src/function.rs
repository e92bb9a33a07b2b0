//! Tools: what the model may call, its calls, and their responses.

use serde_json::{Map, Value};

use crate::content::Part;
use crate::record::record;
use crate::words::words;

record! {
    /// A call of a function.
    pub struct FunctionCall {
        /// Its id; the model may give none, even to two calls of one function.
        id: Option<String>,
        /// The function.
        name: Option<String>,
        /// The input; absent where the function takes none.
        args: Option<Map<String, Value>>,
    }

    /// A function response.
    pub struct FunctionResponse {
        /// The id of the call, where it had one.
        id: Option<String>,
        /// The function.
        name: Option<String>,
        /// The output, under `output`, or what went wrong, under `error`.
        response: Option<Map<String, Value>>,
        /// Files of the output.
        parts: Vec<Part>,
        /// Live, NON_BLOCKING: when the model takes notice of it.
        scheduling: Option<Scheduling>,
        /// Live, NON_BLOCKING: whether more responses of this call follow.
        will_continue: Option<bool>,
    }

    /// The declaration of a function.
    pub struct FunctionDeclaration {
        /// Its name.
        name: Option<String>,
        /// What it does.
        description: Option<String>,
        /// Live: whether the model waits for it.
        behavior: Option<Behavior>,
        /// Its input, in Google's subset of OpenAPI.
        parameters: Option<Value>,
        /// Its input, as JSON Schema. One of the two.
        parameters_json_schema: Option<Value>,
        /// Its output, in Google's subset of OpenAPI.
        response: Option<Value>,
        /// Its output, as JSON Schema.
        response_json_schema: Option<Value>,
    }

    /// What the model may use. Google's own tools, such as `googleSearch`, are in `rest`.
    pub struct Tool {
        /// Functions of ours.
        function_declarations: Vec<FunctionDeclaration>,
    }

    /// How tools are used.
    pub struct ToolConfig {
        /// How functions are called.
        function_calling_config: Option<FunctionCallingConfig>,
    }

    /// How functions are called.
    pub struct FunctionCallingConfig {
        /// Whether they may or must be.
        mode: Option<FunctionCallingMode>,
        /// Which, where they must be.
        allowed_function_names: Vec<String>,
    }
}

words! {
    /// Whether the model waits for a function.
    pub enum Behavior {
        /// It does.
        Blocking = "BLOCKING",
        /// It continues its answer.
        NonBlocking = "NON_BLOCKING",
    }

    /// When a model that did not wait takes notice of a response.
    pub enum Scheduling {
        /// Only with the next answer.
        Silent = "SILENT",
        /// When it has finished its answer.
        WhenIdle = "WHEN_IDLE",
        /// At once.
        Interrupt = "INTERRUPT",
    }

    /// Whether functions may or must be called.
    pub enum FunctionCallingMode {
        /// They may.
        Auto = "AUTO",
        /// One must.
        Any = "ANY",
        /// None may.
        None = "NONE",
        /// They may, and calls are held to their schema.
        Validated = "VALIDATED",
    }
}
