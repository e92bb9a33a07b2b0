//! The command line: its subcommands and flags, and what each does.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

use crate::check::Check;
use crate::config::{Config, Settings};
use crate::doctor::Doctor;
use crate::environment::Environment;
use crate::error::Error;
use crate::healthcheck::Healthcheck;
use crate::init::Init;
use crate::reference::What;
use crate::{agent_file, check, doctor, healthcheck, init, log, reference, serve};

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
        /// Configuration file in TOML, or a folder of them [env: ADK_STREAM_CONFIG] [default: adk-stream.toml, when it exists]
        #[arg(long, value_name = "PATH")]
        config: Option<PathBuf>,
    },
    /// Check the configuration file: say what is wrong, try every model, server and host, and print
    /// what the model will be sent.
    Check(Check),
    /// Look at everything that a server needs: settings, address, limits, store, clocks, peers, models
    /// and tools; and say what to do where something is wrong. Takes the flags of serve, and changes
    /// nothing.
    Doctor(Doctor),
    /// Write a configuration file that runs, after three questions.
    Init(Init),
    /// Ask a server whether it runs: exit code 0 if it responds, 1 if it does not.
    Healthcheck(Healthcheck),
    /// Print the JSON Schema of the configuration file.
    Schema,
    /// Print what is generated from the code: completions, manual pages, and every setting.
    Reference {
        /// What to print
        what: What,
        /// Write all manual pages into this folder, in place of printing one
        #[arg(long, value_name = "PATH")]
        folder: Option<PathBuf>,
    },
}

/// Does what the command line says, until it is done.
pub fn run(
    arguments: impl IntoIterator<Item = OsString>,
    environment: &Environment,
) -> Result<(), Error> {
    let parsed = match CommandLine::try_parse_from(arguments) {
        Ok(line) => line.command,
        // Help and version are errors to clap alone.
        Err(answer) if !answer.use_stderr() => {
            // A closed stdout has no reader.
            let _ = answer.print();
            return Ok(());
        }
        Err(error) => return Err(Error::Usage(one_line(&error))),
    };
    match parsed {
        Command::Serve { settings, config } => {
            let config = Config::load(*settings, config, environment, Path::new(""))?;
            log::to_stderr(&config.log, config.log_format);
            serve::run(&config)
        }
        Command::Check(command) => check::run(&command, environment),
        Command::Doctor(command) => doctor::run(command, environment),
        Command::Init(command) => init::run(&command),
        Command::Healthcheck(command) => healthcheck::run(command, environment),
        Command::Reference { what, folder } => {
            if folder.is_some() && what != What::Man {
                let usage = "--folder is for manual pages alone: `adk-stream reference man`";
                return Err(Error::Usage(usage.to_owned()));
            }
            reference::run(what, folder.as_deref(), command())
        }
        Command::Schema => {
            // A closed stdout has no reader.
            let _ = std::io::stdout().write_all(agent_file::schema().as_bytes());
            Ok(())
        }
    }
}

/// The whole command line.
pub(crate) fn command() -> clap::Command {
    CommandLine::command()
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
    fn a_mistake_is_reported_in_one_line() {
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
