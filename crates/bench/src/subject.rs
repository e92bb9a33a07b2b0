//! A server that is measured: started, asked for its address, and its costs read from the system.

use std::ffi::OsStr;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use testkit::launcher;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStdout, Command};

/// How long a server may take until it says where it listens.
const TIME_LIMIT: Duration = Duration::from_secs(120);

/// The system counts a process's time in hundredths of a second.
const TICKS: f64 = 100.0;

/// A server that is measured. Dropping it ends it.
pub struct Subject {
    /// Where it listens.
    pub address: SocketAddr,
    /// How long it took until it did.
    pub start: Duration,
    child: Child,
    /// What it says must be read, or it would be held up by its own words.
    _said: tokio::task::JoinHandle<()>,
}

impl Subject {
    /// Starts a program that says `listening on http://ADDRESS` when it does.
    pub async fn start(
        program: impl AsRef<OsStr>,
        arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
        folder: &Path,
    ) -> io::Result<Self> {
        let begun = Instant::now();
        let mut command = Command::from(launcher::command(program));
        command.args(arguments).current_dir(folder);
        let mut child = command.kill_on_drop(true).spawn()?;
        let stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let mut lines = BufReader::new(stdout).lines();
        let address = tokio::time::timeout(TIME_LIMIT, address(&mut lines)).await??;
        Ok(Self {
            address,
            start: begun.elapsed(),
            child,
            _said: tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} }),
        })
    }

    /// Ends it, and waits until it has.
    pub async fn stop(mut self) -> io::Result<()> {
        self.child.kill().await
    }

    /// The seconds of processor time that it took so far, its own and the system's for it.
    pub fn cpu(&self) -> io::Result<f64> {
        let stat = self.read("stat")?;
        // The name, in parentheses, may hold anything.
        let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        let mut fields = rest.split_whitespace().skip(11);
        let mut ticks = || fields.next().and_then(|field| field.parse::<f64>().ok());
        let (user, system) = (ticks(), ticks());
        let all = user.zip(system).ok_or(io::ErrorKind::InvalidData)?;
        Ok((all.0 + all.1) / TICKS)
    }

    /// The most memory that it had since [`Subject::forget_peak`], in bytes.
    pub fn peak(&self) -> io::Result<u64> {
        self.status("VmHWM:")
    }

    /// The memory that it has, in bytes.
    pub fn memory(&self) -> io::Result<u64> {
        self.status("VmRSS:")
    }

    /// Resets the peak. Where the system refuses, the peak is that since the start.
    pub fn forget_peak(&self) {
        if let Some(id) = self.child.id() {
            let _ = std::fs::write(format!("/proc/{id}/clear_refs"), "5");
        }
    }

    fn status(&self, name: &str) -> io::Result<u64> {
        let status = self.read("status")?;
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        Ok(kilobytes.ok_or(io::ErrorKind::InvalidData)? * 1024)
    }

    fn read(&self, file: &str) -> io::Result<String> {
        let id = self.child.id().ok_or(io::ErrorKind::NotFound)?;
        std::fs::read_to_string(format!("/proc/{id}/{file}"))
    }
}

async fn address(lines: &mut tokio::io::Lines<BufReader<ChildStdout>>) -> io::Result<SocketAddr> {
    while let Some(line) = lines.next_line().await? {
        if let Some(address) = launcher::listening_address(&line) {
            return Ok(address);
        }
    }
    Err(io::Error::other("a server ended before it listened"))
}
