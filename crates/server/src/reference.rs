//! `adk-stream reference`: what is generated from the code, so that it can't differ from it.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use clap::{Command, ValueEnum};
use clap_complete::Shell;
use serde_json::Value;

use crate::agent_file;
use crate::document;
use crate::environment;
use crate::error::Error;

/// What is generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum What {
    /// Completions for Bash
    Bash,
    /// Completions for Zsh
    Zsh,
    /// Completions for fish
    Fish,
    /// The manual page adk-stream(1); with --folder, those of all subcommands
    Man,
    /// A configuration file with every setting, each commented out
    Sample,
    /// A table of every setting, in Markdown
    Settings,
    /// The routes, as an OpenAPI document
    Openapi,
    /// The routes, as a page in Markdown
    Routes,
}

/// Prints it.
pub(crate) fn run(what: What, folder: Option<&Path>, mut command: Command) -> Result<(), Error> {
    if let Some(folder) = folder {
        let written = clap_mangen::generate_to(command, folder);
        return written.map_err(|source| Error::FileUnwritable {
            path: folder.to_owned(),
            source,
        });
    }
    let text = match what {
        What::Bash => completions(Shell::Bash, &mut command),
        What::Zsh => completions(Shell::Zsh, &mut command),
        What::Fish => completions(Shell::Fish, &mut command),
        What::Man => man(command),
        What::Sample => sample().into_bytes(),
        What::Settings => settings_page(&command).into_bytes(),
        What::Openapi => document::text().into_bytes(),
        What::Routes => document::page().into_bytes(),
    };
    // A closed stdout has no reader.
    let _ = std::io::stdout().write_all(&text);
    Ok(())
}

fn completions(shell: Shell, command: &mut Command) -> Vec<u8> {
    let mut text = Vec::new();
    clap_complete::generate(shell, command, "adk-stream", &mut text);
    text
}

fn man(command: Command) -> Vec<u8> {
    let mut text = Vec::new();
    // Writing to a vector does not fail.
    let _ = clap_mangen::Man::new(command).render(&mut text);
    text
}

/// A setting, as its documentation has it.
struct Setting {
    key: String,
    /// Without the notes in brackets.
    what: String,
    default: Option<String>,
    is_switch: bool,
    /// Whether the file only says where it is kept.
    is_secret: bool,
}

impl Setting {
    fn variable(&self) -> String {
        environment::variable(&self.key.to_uppercase().replace('-', "_"))
    }

    /// The default, where it is a value that a file may have and not a description.
    fn literal(&self) -> Option<&str> {
        const DESCRIPTIONS: [&str; 6] = [
            "half",
            "none",
            "nothing",
            "Google's",
            "OpenAI's",
            "Anthropic's",
        ];
        let default = self.default.as_deref()?;
        let is_value = !default.contains(' ') && !DESCRIPTIONS.contains(&default);
        is_value.then_some(default)
    }
}

/// The settings that have one value, in the order of the code. Tables are in docs/agent-file.md.
fn settings() -> Vec<Setting> {
    let schema: Value = serde_json::from_str(&agent_file::schema()).unwrap_or_default();
    let Some(properties) = schema["properties"].as_object() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (key, property) in properties {
        let kinds = &property["type"];
        let has = |kind: &str| {
            kinds == kind
                || kinds
                    .as_array()
                    .is_some_and(|all| all.contains(&kind.into()))
        };
        if !has("string") && !has("boolean") {
            continue;
        }
        let text = property["description"].as_str().unwrap_or_default();
        let what = text.split(" [").next().unwrap_or_default();
        let default = text.split_once("[default: ").map(|(_, rest)| rest);
        let is_secret = property.get("pattern").is_some();
        found.push(Setting {
            key: key.clone(),
            what: what.trim_end_matches('.').to_owned(),
            default: default.map(|rest| rest.trim_end_matches(']').to_owned()),
            is_switch: has("boolean"),
            is_secret,
        });
    }
    found
}

/// A file with every setting.
fn sample() -> String {
    let mut text = String::from(
        "# Every setting of adk-stream. Each is commented out, with its default as its value where that is\n\
         # a value. A variable beats this file, and a flag beats both. Agents, models and tools are tables:\n\
         # docs/agent-file.md.\n",
    );
    for setting in settings() {
        let default = match &setting.default {
            Some(default) => format!(" (default: {default})"),
            None => String::new(),
        };
        let value = setting.literal().unwrap_or_default();
        let value = match setting {
            Setting {
                is_switch: true, ..
            } => value.to_owned(),
            Setting {
                is_secret: true, ..
            } => Value::from(format!("env:{}", setting.variable())).to_string(),
            _ => Value::from(value).to_string(),
        };
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "\n# {}{default}\n#{} = {value}\n",
            setting.what, setting.key
        );
    }
    text
}

/// The page docs/settings.md.
fn settings_page(command: &Command) -> String {
    let serve = command.find_subcommand("serve");
    let has_flag = |key: &str| {
        serve.is_some_and(|serve| serve.get_arguments().any(|it| it.get_long() == Some(key)))
    };
    let mut text = String::from(
        "# Settings\n\n\
         <!-- generated: adk-stream reference settings > docs/settings.md -->\n\n\
         Every setting of `adk-stream serve` can be a flag (`--listen`), a variable (`ADK_STREAM_LISTEN`) or a \
         key of the configuration file (`listen`). A flag beats a variable, and a variable beats the file. \
         Secrets have no flag, since everybody on a machine can read a command line. `adk-stream reference \
         sample` prints a file with all of them. Agents, models and tools are tables of the file: \
         [agent-file.md](agent-file.md).\n\n\
         | setting | variable | default | what |\n|---|---|---|---|\n",
    );
    for setting in settings() {
        let name = match has_flag(&setting.key) {
            true => format!("`--{}`", setting.key),
            false => format!("`{}` (no flag)", setting.key),
        };
        let default = match (setting.literal(), &setting.default) {
            (Some(literal), _) => format!("`{literal}`"),
            (None, Some(default)) => default.clone(),
            (None, None) => String::new(),
        };
        let variable = setting.variable();
        let what = setting.what.replace('|', "\\|");
        // Writing to a string does not fail.
        let _ = writeln!(text, "| {name} | `{variable}` | {default} | {what} |");
    }
    text.push_str(
        "\nAnd `ADK_STREAM_CONFIG` (or `--config`) names the configuration file or a folder of them, and \
         `ADK_STREAM_LOG` sets [what is logged](operations.md).\n",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;
    use crate::config::{Config, Settings};
    use crate::environment::Environment;

    #[test]
    fn published_settings_are_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/settings.md");
        let published = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            published == settings_page(&cli::command()),
            "docs/settings.md is out of date: `adk-stream reference settings > docs/settings.md`"
        );
    }

    #[test]
    fn every_flag_and_variable_is_a_setting_of_the_table() {
        let page = settings_page(&cli::command());
        let command = cli::command();
        let serve = command.find_subcommand("serve").unwrap();
        for flag in serve.get_arguments().filter_map(clap::Arg::get_long) {
            assert!(page.contains(&format!("`--{flag}`")), "{flag}");
        }
        for variable in environment::known() {
            let variable = environment::variable(variable);
            assert!(page.contains(&format!("`{variable}`")), "{variable}");
        }
    }

    #[test]
    fn sample_with_every_setting_switched_on_can_be_read() {
        let all = uncommented(|_| true);
        let read: Result<Settings, _> = toml::from_str(&all);
        assert!(read.is_ok(), "{all}: {read:?}");
        assert_eq!(all.lines().count(), settings().len());
    }

    /// The lines of the sample that set something.
    fn uncommented(is_wanted: impl Fn(&str) -> bool) -> String {
        let sample = sample();
        let lines = sample.lines().filter_map(|line| line.strip_prefix('#'));
        let lines = lines.filter(|line| !line.starts_with(' ') && is_wanted(line));
        lines.map(|line| format!("{line}\n")).collect()
    }

    #[test]
    fn defaults_in_the_sample_are_accepted() {
        // Where a key is kept, nothing is in this test.
        let file = uncommented(|line| !line.ends_with(" = \"\"") && !line.contains("\"env:"));
        assert!(file.contains("listen = \"127.0.0.1:8080\"\n"), "{file}");
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("adk-stream.toml"), &file).unwrap();
        let flags = Settings::default();
        let config = Config::load(flags, None, &Environment::default(), folder.path());
        assert!(config.is_ok(), "{file}: {:?}", config.err());
    }

    #[test]
    fn completions_and_manual_pages_know_the_flags() {
        let mut command = cli::command();
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let text = String::from_utf8(completions(shell, &mut command)).unwrap();
            assert!(text.contains("tls-cert"), "{shell}");
        }
    }

    #[test]
    fn every_subcommand_has_a_manual_page() {
        let folder = tempfile::tempdir().unwrap();
        run(What::Man, Some(folder.path()), cli::command()).unwrap();
        let page = |name: &str| {
            let page = std::fs::read_to_string(folder.path().join(name));
            page.unwrap_or_else(|error| panic!("{name}: {error}"))
        };
        assert!(page("adk-stream-serve.1").contains(r"\-\-tls\-cert"));
        let command = cli::command();
        let names = command.get_subcommands().map(Command::get_name);
        let mut pages: Vec<String> = names.map(|name| format!("adk-stream-{name}.1")).collect();
        assert!(pages.len() > 5, "{pages:?}");
        let overview = page("adk-stream.1");
        for name in &pages {
            let title = name.trim_end_matches(".1").replace('-', r"\-");
            assert!(page(name).contains(&title), "{name}");
            assert!(overview.contains(&title), "{name}");
        }
        pages.push("adk-stream.1".to_owned());
        assert_eq!(
            std::fs::read_dir(folder.path()).unwrap().count(),
            pages.len()
        );
    }
}
