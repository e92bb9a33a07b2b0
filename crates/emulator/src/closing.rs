//! That the emulator ends.

use tokio::sync::watch;

/// By which everything that runs hears that the emulator ends.
#[derive(Debug, Clone)]
pub(crate) struct Closing(watch::Receiver<bool>);

impl Closing {
    /// Who says so, and who hears it.
    pub(crate) fn new() -> (watch::Sender<bool>, Self) {
        let (sender, receiver) = watch::channel(false);
        (sender, Self(receiver))
    }

    /// Waits until the emulator ends, or is gone.
    pub(crate) async fn told(&mut self) {
        let _ = self.0.wait_for(|is_closing| *is_closing).await.is_ok();
    }
}
