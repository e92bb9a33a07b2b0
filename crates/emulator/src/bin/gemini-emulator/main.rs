//! The binary `gemini-emulator`: exit code 0 when all went well, 2 and one line on stderr when not.

mod error;
mod settings;

use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use adk_stream_emulator as emulator;
use clap::Parser;
use tokio::signal::unix::{Signal, SignalKind, signal};

use self::error::Error;
use self::settings::{Config, Settings};

/// How long answers under way may take to end.
const GRACE: Duration = Duration::from_secs(2);

/// A Gemini on loopback, for tests: generateContent and Live, with scripted faults.
///
/// Every flag can also be given in the environment, and a flag beats a variable.
#[derive(Debug, Parser)]
#[command(name = "gemini-emulator", version)]
struct CommandLine {
    #[command(flatten)]
    settings: Settings,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(&error.line());
            ExitCode::from(2)
        }
    }
}

/// Runs the emulator until a signal.
fn run() -> Result<(), Error> {
    let line = match CommandLine::try_parse() {
        Ok(line) => line,
        // Help and version are errors to clap alone.
        Err(answer) if !answer.use_stderr() => {
            // stdout may be closed.
            let _ = answer.print();
            return Ok(());
        }
        Err(error) => return Err(Error::Usage(error.to_string())),
    };
    let config = Config::load(line.settings, |name| std::env::var_os(name))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|source| Error::system("start the runtime", source))?;
    let result = runtime.block_on(emulate(config));
    // What still runs had its time: it must not hold up the exit.
    runtime.shutdown_background();
    result
}

async fn emulate(config: Config) -> Result<(), Error> {
    let Config {
        listen,
        builder,
        certificate,
    } = config;
    // Before the address is printed: its reader may signal at once.
    let mut signals = Signals::listen().map_err(|it| Error::system("listen for signals", it))?;
    let emulator = builder.start().await.map_err(|error| match error {
        emulator::Error::Listen(source) => Error::Listen { listen, source },
        other => Error::Emulator(other),
    })?;
    if let Some(path) = certificate {
        let written = std::fs::write(&path, emulator.certificate());
        written.map_err(|source| Error::FileUnwritable { path, source })?;
    }
    announce(emulator.address());
    let signal = signals.next().await;
    report(&format!(
        "{signal}: answers under way have {} s to end",
        GRACE.as_secs()
    ));
    tokio::select! {
        () = emulator.shut_down(GRACE) => {}
        signal = signals.next() => report(&format!("{signal}: cut what was open")),
    }
    Ok(())
}

/// SIGTERM and SIGINT, the second as well as the first.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn listen() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}

/// The one line on stdout, by which scripts and tests learn the address.
fn announce(address: SocketAddr) {
    let mut stdout = io::stdout();
    let line = format!("listening on http://{address}");
    let written = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
    if written.is_err() {
        report(&line);
    }
}

/// A line on stderr. `eprintln!` panics where stderr is closed.
fn report(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}
