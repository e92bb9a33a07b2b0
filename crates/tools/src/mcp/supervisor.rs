//! Starts a server, follows its list, and starts it again when it fails.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

use super::catalog::{Catalog, shorten};
use super::connection::{About, Connector, Failure, SessionEvent};
use super::link::{Link, Listing, Phase};

/// How long it takes at the most until it is known that a process which does not answer has exited.
const EXIT: Duration = Duration::from_secs(1);

/// How long a server may take to list its tools once it runs. It is asked when its list has changed, and
/// when a call got no answer.
const LIST_TIMEOUT: Duration = Duration::from_secs(10);

/// How a session came to its end.
enum End {
    /// The server is no longer needed.
    Stopped,
    Failed(Failure),
}

/// Keeps a server running until it is stopped.
pub(super) async fn supervise(
    link: Arc<Link>,
    mut connector: Connector,
    mut stopped: watch::Receiver<bool>,
) {
    let mut failures = 0;
    loop {
        link.enter(Phase::Starting);
        let started = Instant::now();
        let failure = match run(&link, &mut connector, &mut stopped).await {
            End::Stopped => break,
            End::Failed(failure) => failure,
        };
        let max = link.config.limits.max_restart_delay;
        // One that ran for long has failed for the first time.
        failures = if started.elapsed() > max {
            1
        } else {
            failures + 1
        };
        let delay = delay(failures, max);
        log(&link, &failure, delay);
        let until = Instant::now() + delay;
        link.enter(Phase::Waiting {
            until,
            why: Arc::from(&*failure.reason),
        });
        tokio::select! {
            () = stop(&mut stopped) => break,
            () = sleep_until(until) => {}
        }
    }
    link.enter(Phase::Stopped);
    link.set_listing(None);
}

async fn stop(stopped: &mut watch::Receiver<bool>) {
    // A sender that is gone can't want the server either.
    let _ = stopped.wait_for(|is_stopped| *is_stopped).await;
}

/// Twice as long after each failure, and not at the same time as others.
fn delay(failures: u32, max: Duration) -> Duration {
    let longest = (max / 100).saturating_mul(1 << failures.saturating_sub(1).min(16));
    let mut random = [0; 1];
    // Without randomness, it is the whole time.
    let share = match getrandom::fill(&mut random) {
        Ok(()) => 0.5 + f64::from(random[0]) / 512.0,
        Err(_) => 1.0,
    };
    longest.min(max).mul_f64(share)
}

fn log(link: &Link, failure: &Failure, delay: Duration) {
    let Failure { reason, detail } = failure;
    let mut status = link.status();
    status.restarts += 1;
    status.last_error = Some(match detail {
        Some(detail) => shorten(&format!("{reason}: {detail}"), 4096),
        None => reason.clone(),
    });
    tracing::warn!(
        server = %link.config.name, reason, detail = detail.as_deref(), ?delay, "MCP server failed"
    );
}

/// One life of a server.
async fn run(
    link: &Arc<Link>,
    connector: &mut Connector,
    stopped: &mut watch::Receiver<bool>,
) -> End {
    let within = link.config.start_timeout;
    let deadline = Instant::now() + within;
    let opened = tokio::select! {
        biased;
        () = stop(stopped) => return End::Stopped,
        opened = connector.open(within) => opened,
    };
    let mut session = match opened {
        Ok(session) => session,
        Err(failure) => return End::Failed(failure),
    };
    let left = deadline.saturating_duration_since(Instant::now());
    let listed = tokio::select! {
        biased;
        () = stop(stopped) => {
            session.close().await;
            return End::Stopped;
        }
        listed = list(link, session.about(), left) => listed,
    };
    if let Err(why) = listed {
        let failure = session.explain(Failure::new(why));
        session.close().await;
        return End::Failed(failure);
    }
    link.enter(Phase::Ready(session.about().peer));
    loop {
        let is_suspect = tokio::select! {
            biased;
            () = stop(stopped) => {
                session.close().await;
                return End::Stopped;
            }
            event = session.next() => match event {
                SessionEvent::Ended(failure) => return End::Failed(failure),
                SessionEvent::ListChanged => false,
            },
            () = link.suspicion.notified() => true,
        };
        let listed = tokio::select! {
            biased;
            () = stop(stopped) => {
                session.close().await;
                return End::Stopped;
            }
            listed = list(link, session.about(), LIST_TIMEOUT.min(within)) => listed,
        };
        match listed {
            Ok(()) => {}
            Err(_) if is_suspect => {
                // One that has exited does not answer either, and how it exited says more.
                if let Ok(SessionEvent::Ended(failure)) = timeout(EXIT, session.next()).await {
                    return End::Failed(failure);
                }
                session.kill("it does not answer");
                let failure = session.explain(Failure::new("it does not answer"));
                session.close().await;
                return End::Failed(failure);
            }
            Err(why) => {
                tracing::warn!(server = %link.config.name, why, "changed list of an MCP server not read");
            }
        }
    }
}

/// Reads the server's list, and offers what is in it.
async fn list(link: &Arc<Link>, about: About, within: Duration) -> Result<(), String> {
    let limits = &link.config.limits;
    let listed = timeout(within, about.peer.list(limits.max_tools)).await;
    let listed = listed.map_err(|_| "it did not list its tools in time".to_owned())??;
    let catalog = Catalog::new(&link.config, listed);
    let About {
        protocol,
        implementation,
        ..
    } = about;
    let tools = catalog.statuses();
    let mut status = link.status();
    let is_new = status.left_out != catalog.left_out || status.protocol.is_none();
    if is_new || status.tools != tools {
        let (server, offered) = (&link.config.name, tools.len());
        tracing::info!(%server, offered, %protocol, "tools of an MCP server");
        for left_out in catalog.left_out.iter().filter(|_| is_new) {
            tracing::warn!(%server, tool = left_out.name, why = left_out.why, "MCP tool not offered");
        }
    }
    status.protocol = Some(protocol);
    status.implementation = implementation;
    status.tools = tools;
    status.left_out = catalog.left_out.clone();
    drop(status);
    link.set_listing(Some(Listing {
        tools: Arc::new(catalog.map(link)),
        left_out: catalog.left_out.into(),
    }));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delay_grows_to_its_limit_and_varies() {
        let max = Duration::from_secs(30);
        for (failures, least, most) in [
            (1, 150, 300),
            (2, 300, 600),
            (8, 15_000, 30_000),
            (99, 15_000, 30_000),
        ] {
            let delay = delay(failures, max);
            let within = Duration::from_millis(least)..=Duration::from_millis(most);
            assert!(within.contains(&delay), "{failures}: {delay:?}");
        }
        let delays: std::collections::HashSet<_> = (0..50).map(|_| delay(3, max)).collect();
        assert!(delays.len() > 5, "{delays:?}");
    }
}
