//! `adk-stream init`: a configuration file that runs, after three questions.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;

use crate::config_file::DEFAULT;
use crate::error::Error;

/// What is asked, unless a flag says it.
#[derive(Debug, clap::Args)]
pub(crate) struct Init {
    /// The model: gemini:NAME, openai:NAME or anthropic:NAME
    #[arg(long, value_name = "KIND:NAME")]
    model: Option<String>,
    /// The variable that holds its key
    #[arg(long, value_name = "NAME")]
    key_variable: Option<String>,
    /// Tools: the command or the URL of an MCP server, `http` for an example of an HTTP tool, or `none`
    #[arg(long, value_name = "TOOLS")]
    tools: Option<String>,
    /// Where the model is, if not at its provider's own address
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// The file to write; one that exists is left as it is [default: adk-stream.toml]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// The model that is offered.
const MODEL: &str = "gemini:gemini-flash-latest";

/// Asks, writes the file, and says what to do next.
pub(crate) fn run(command: &Init) -> Result<(), Error> {
    let path = command.config.clone().unwrap_or_else(|| DEFAULT.into());
    let exists = || Error::Usage(format!("{} exists; it is left as it is", path.display()));
    if path.exists() {
        return Err(exists());
    }
    let mut input = io::stdin().lock();
    let mut ask = |question: &str, default: &str| ask(&mut input, question, default);
    let model = match &command.model {
        Some(model) => model.clone(),
        None => ask(
            "Which model? gemini:NAME, openai:NAME or anthropic:NAME",
            MODEL,
        )?,
    };
    let usual = usual_variable(&model)?;
    let variable = match &command.key_variable {
        Some(variable) => variable.clone(),
        None => ask("Which variable holds its key?", usual)?,
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if variable.is_empty() || !variable.chars().all(is_name) {
        return Err(Error::Usage(format!(
            "`{variable}` is not the name of a variable"
        )));
    }
    let tools = match &command.tools {
        Some(tools) => tools.clone(),
        None => ask(
            "Which tools? The command or URL of an MCP server, http for an example, or none",
            "none",
        )?,
    };
    let text = file(
        &model,
        &variable,
        usual,
        command.base_url.as_deref(),
        &tools,
    );
    let created = OpenOptions::new().write(true).create_new(true).open(&path);
    let written = created.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => exists(),
        _ => Error::FileUnwritable {
            path: path.clone(),
            source,
        },
    })?;
    let name = path.display();
    let here = match path.as_os_str() == DEFAULT {
        true => String::new(),
        false => format!(" --config {name}"),
    };
    // A closed stdout has no reader.
    let _ = writeln!(
        io::stdout(),
        "wrote {name}\nnext: export {variable}=…, adk-stream check{here}, adk-stream serve{here}"
    );
    Ok(())
}

/// The variable in which a provider's own tools look for a key.
fn usual_variable(model: &str) -> Result<&'static str, Error> {
    match model.split_once(':') {
        Some(("gemini" | "gemini-live", name)) if !name.is_empty() => Ok("GEMINI_API_KEY"),
        Some(("openai", name)) if !name.is_empty() => Ok("OPENAI_API_KEY"),
        Some(("anthropic", name)) if !name.is_empty() => Ok("ANTHROPIC_API_KEY"),
        _ => Err(Error::Usage(format!(
            "`{model}` is not a model; expected gemini:NAME, openai:NAME or anthropic:NAME"
        ))),
    }
}

/// One question; an empty answer is the default, and so is the end of the input.
fn ask(input: &mut impl BufRead, question: &str, default: &str) -> Result<String, Error> {
    let failed = |source| Error::System {
        attempt: "ask",
        source,
    };
    let mut stdout = io::stdout();
    write!(stdout, "{question} [{default}] ").map_err(failed)?;
    stdout.flush().map_err(failed)?;
    let mut line = String::new();
    input.read_line(&mut line).map_err(failed)?;
    Ok(match line.trim() {
        "" => default.to_owned(),
        answer => answer.to_owned(),
    })
}

fn file(model: &str, variable: &str, usual: &str, base_url: Option<&str>, tools: &str) -> String {
    let mut text = String::new();
    let is_plain = variable == usual && base_url.is_none();
    let reference = if is_plain { model } else { "main" };
    let selected = match tools {
        "none" => "",
        "http" => "\"repository\"",
        _ => "\"server.*\"",
    };
    // Writing to a string does not fail.
    let _ = write!(
        text,
        "[agents.assistant]\nmodel = {}\ninstruction = \"You are a helpful assistant.\"\ntools = [{selected}]\n",
        quoted(reference)
    );
    if !is_plain {
        let (kind, name) = model.split_once(':').unwrap_or((model, ""));
        let _ = write!(
            text,
            "\n[models.main]\nkind = {}\nmodel = {}\nkey = {}\n",
            quoted(kind),
            quoted(name),
            quoted(&format!("env:{variable}"))
        );
        if let Some(url) = base_url {
            let _ = writeln!(text, "base-url = {}", quoted(url));
        }
    }
    match tools {
        "none" => {}
        "http" => text.push_str(HTTP_TOOL),
        url if url.starts_with("http://") || url.starts_with("https://") => {
            let _ = write!(text, "\n[mcp.server]\nurl = {}\n", quoted(url));
        }
        command => {
            let words: Vec<String> = command.split_whitespace().map(quoted).collect();
            let _ = write!(text, "\n[mcp.server]\ncommand = [{}]\n", words.join(", "));
        }
    }
    text
}

/// A tool that only reads, and so needs no approval.
const HTTP_TOOL: &str = r#"
[http.repository]
description = "Reads a public repository of GitHub."
input = { type = "object", properties = { owner = { type = "string" }, name = { type = "string" } }, required = ["owner", "name"] }
request = { url = "https://api.github.com/repos/{owner}/{name}" }
allow = true
"#;

/// A text as TOML writes it.
fn quoted(text: &str) -> String {
    // A basic string of TOML escapes what one of JSON does.
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent_file::Source;
    use crate::config_file;

    #[test]
    fn every_file_that_is_written_can_be_read() {
        for (model, variable, url, tools) in [
            (MODEL, "GEMINI_API_KEY", None, "none"),
            (MODEL, "MY_KEY", None, "http"),
            (
                "openai:qwen3",
                "LOCAL_KEY",
                Some("http://127.0.0.1:11434/v1"),
                "npx -y @acme/crm-mcp",
            ),
            (
                "anthropic:claude",
                "ANTHROPIC_API_KEY",
                None,
                "https://crm.example/mcp",
            ),
        ] {
            let usual = usual_variable(model).unwrap();
            let text = file(model, variable, usual, url, tools);
            let path = DEFAULT.into();
            let read = config_file::parse(Source {
                path,
                text: text.clone(),
            });
            assert!(read.is_ok(), "{text}: {read:?}");
        }
    }

    #[test]
    fn answers_are_lines_and_an_empty_one_is_the_default() {
        let mut input = io::Cursor::new("\nmine\n");
        assert_eq!(ask(&mut input, "?", "usual").unwrap(), "usual");
        assert_eq!(ask(&mut input, "?", "usual").unwrap(), "mine");
        assert_eq!(ask(&mut input, "?", "usual").unwrap(), "usual");
    }
}
