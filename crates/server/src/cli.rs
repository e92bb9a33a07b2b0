//! The command line: its subcommands and flags, and what each does.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

use crate::config::{Config, Settings};
use crate::environment::Environment;
use crate::error::Error;
use crate::{log, serve};

/// Runs an agent and streams it to any page built on the AI SDK's useChat.
#[derive(Debug, Parser)]
#[command(name = "adk-stream", version, arg_required_else_help = false)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start the server.
    ///
    /// Every flag can also be given in the environment or as a key of the configuration file.
    /// A flag beats a variable, and a variable beats the file.
    Serve {
        #[command(flatten)]
        settings: Box<Settings>,
        /// Configuration file, in TOML [env: ADK_STREAM_CONFIG] [default: adk-stream.toml, when it exists]
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
}

/// Does what the command line says, until it is done.
pub fn run(
    arguments: impl IntoIterator<Item = OsString>,
    environment: &Environment,
) -> Result<(), Error> {
    let command = match CommandLine::try_parse_from(arguments) {
        Ok(line) => line.command,
        // Help and version are errors to clap alone.
        Err(answer) if !answer.use_stderr() => {
            // Nobody is left to be told where stdout is closed.
            let _ = answer.print();
            return Ok(());
        }
        Err(error) => return Err(Error::Usage(one_line(&error))),
    };
    match command {
        Command::Serve { settings, config } => {
            let config = Config::load(*settings, config, environment, Path::new(""))?;
            log::to_stderr(&config.log);
            serve::run(&config)
        }
    }
}

/// What clap says in several paragraphs, without the usage that follows them.
fn one_line(error: &clap::Error) -> String {
    if error.kind() == ErrorKind::MissingSubcommand {
        return "nothing to do; try `adk-stream serve` or `adk-stream --help`".to_owned();
    }
    let text = error.render().to_string();
    let mut line = String::new();
    let paragraphs = text.lines().map(str::trim).filter(|part| !part.is_empty());
    for part in paragraphs
        .take_while(|part| !part.starts_with("Usage:") && !part.starts_with("For more information"))
    {
        if !line.is_empty() {
            line.push_str(if part.starts_with("tip:") { "; " } else { " " });
        }
        line.push_str(part.strip_prefix("error: ").unwrap_or(part));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn refusal(arguments: &[&str]) -> String {
        let whole = std::iter::once("adk-stream").chain(arguments.iter().copied());
        run(whole.map(OsString::from), &Environment::default())
            .unwrap_err()
            .line()
    }

    #[test]
    fn the_command_line_is_well_formed() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn a_mistake_is_told_in_one_line() {
        for (arguments, line) in [
            (
                &["serve", "--zzz", "1"][..],
                "unexpected argument '--zzz' found",
            ),
            (
                &["serve", "--listn", "1"],
                "unexpected argument '--listn' found; tip: a similar argument exists: '--listen'",
            ),
            (
                &["serve", "--listen"],
                "a value is required for '--listen <HOST:PORT>' but none was supplied",
            ),
            (&["serve", "now"], "unexpected argument 'now' found"),
            (
                &["serv"],
                "unrecognized subcommand 'serv'; tip: a similar subcommand exists: 'serve'",
            ),
            (
                &[],
                "nothing to do; try `adk-stream serve` or `adk-stream --help`",
            ),
            (
                &["serve", "--listen", "x"],
                "--listen: `x` is not an address; expected HOST:PORT, as in 127.0.0.1:8080",
            ),
        ] {
            assert_eq!(refusal(arguments), format!("adk-stream: {line}"));
        }
    }

    #[test]
    fn help_names_what_can_be_done() {
        let help = CommandLine::command().render_long_help().to_string();
        assert!(help.contains("serve"), "{help}");
    }
}
