//! SIGTERM and SIGINT as a queue, so that the second one is seen too.

use std::io;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

/// What the system sends to whoever makes a file larger than it may.
const FILE_SIZE: i32 = 25;

/// Starts to listen: from here on neither signal ends the process by itself.
pub(crate) fn listen() -> io::Result<mpsc::Receiver<&'static str>> {
    // Nor does this one: the write fails, the store says so, and the server lives to try again.
    drop(signal(SignalKind::from_raw(FILE_SIZE))?);
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let (sender, receiver) = mpsc::channel(2);
    tokio::spawn(async move {
        loop {
            let name = tokio::select! {
                _ = terminate.recv() => "SIGTERM",
                _ = interrupt.recv() => "SIGINT",
            };
            if sender.send(name).await.is_err() {
                return;
            }
        }
    });
    Ok(receiver)
}
