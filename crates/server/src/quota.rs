//! Quotas: how much one principal may have open, and how much it may send.
//!
//! Rates and requests in flight are counted by each server for itself. What is open is counted by the
//! store, for all servers over it; a server asks it rarely while there is room, so several servers may
//! together let in a few more than the quota. A quota is checked when a turn begins: answers and
//! stops free what it counts, and are never refused by it.

mod allowance;
mod in_flight;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use engine::Engine;
use engine::Request;
use governor::clock::Clock;
use governor::{DefaultDirectRateLimiter, DefaultKeyedRateLimiter, NotUntil, Quota, RateLimiter};
use turn::Principal;
use turn::limits::MAX_OPEN_GATES;

use self::allowance::Allowances;
use self::in_flight::Counts;
pub(crate) use self::in_flight::{InFlight, Slot};

/// A stream of events that is open, until this is dropped.
pub(crate) type EventStream = InFlight;

use crate::problem::Problem;

/// The unit in which bytes are counted.
const KIBIBYTE: usize = 1024;

/// The highest rate: once a nanosecond.
const FASTEST: NonZeroU32 = NonZeroU32::new(1_000_000_000).unwrap();

/// How many gates one turn may have open.
const GATES_PER_TURN: u32 = MAX_OPEN_GATES as u32;

/// How many principals are remembered before those are forgotten that have sent nothing for a while.
const PRINCIPALS: usize = 1_000;

/// When it is worth another try where people have to do something first.
const PEOPLE: Duration = Duration::from_secs(10);

/// When it is worth another try where something is about to end.
const SOON: Duration = Duration::from_secs(1);

/// What one principal may have and send. `None` is without a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuotaLimits {
    /// Chats whose turn has not ended.
    pub open_chats: Option<NonZeroU32>,
    /// Approvals, and calls that a page is to run, that wait.
    pub open_approvals: Option<NonZeroU32>,
    /// Requests that are not answered to their end, streams and sockets included.
    pub requests_in_flight: Option<NonZeroU32>,
    /// Streams of events that are open. They are cheap for a client to hold, and last for as long as it
    /// likes.
    pub event_streams: Option<NonZeroU32>,
    /// Requests each second. Five seconds' worth may come at once.
    pub requests_per_second: Option<NonZeroU32>,
    /// Bytes of bodies each second. One body of the largest size may always come at once.
    pub body_bytes_per_second: Option<NonZeroU32>,
}

impl Default for QuotaLimits {
    fn default() -> Self {
        Self {
            open_chats: NonZeroU32::new(1_000),
            open_approvals: NonZeroU32::new(1_000),
            requests_in_flight: NonZeroU32::new(1_000),
            event_streams: NonZeroU32::new(64),
            requests_per_second: NonZeroU32::new(200),
            body_bytes_per_second: NonZeroU32::new(16 * 1024 * 1024),
        }
    }
}

impl QuotaLimits {
    /// No limit at all.
    pub const NONE: Self = Self {
        open_chats: None,
        open_approvals: None,
        requests_in_flight: None,
        event_streams: None,
        requests_per_second: None,
        body_bytes_per_second: None,
    };

    /// The same where there may be this many connections: requests in flight take half of them at most,
    /// so that one principal can't have them all, from however many addresses.
    #[must_use]
    pub fn within_connections(self, max: usize) -> Self {
        let share = u32::try_from(max / 2).unwrap_or(u32::MAX);
        let share = NonZeroU32::new(share).unwrap_or(NonZeroU32::MIN);
        Self {
            requests_in_flight: self.requests_in_flight.map(|limit| limit.min(share)),
            ..self
        }
    }
}

/// Counts what principals have open and send. Cloning it is cheap, and gives the same counts.
#[derive(Clone)]
pub struct Quotas(Arc<Inner>);

struct Inner {
    limits: QuotaLimits,
    requests: Option<DefaultKeyedRateLimiter<Principal>>,
    /// In KiB.
    bytes: Option<DefaultKeyedRateLimiter<Principal>>,
    in_flight: Arc<Counts>,
    event_streams: Arc<Counts>,
    allowances: Allowances,
    /// When principals were forgotten that have sent nothing for a while.
    swept: DefaultDirectRateLimiter,
}

/// Why something is refused for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: &'static str,
    pub(crate) message: &'static str,
    pub(crate) wait: Duration,
}

impl Refusal {
    /// As a client reads it inside of a stream.
    pub(crate) fn error_text(&self) -> String {
        format!("{}: {}", self.code, self.message)
    }
}

impl Quotas {
    /// Counts within limits, for bodies of at most this many bytes.
    pub fn new(limits: QuotaLimits, largest_body: usize) -> Self {
        let kibibytes = |bytes: usize| {
            let kibibytes = bytes.div_ceil(KIBIBYTE).max(1);
            NonZeroU32::new(u32::try_from(kibibytes).unwrap_or(u32::MAX)).unwrap_or(NonZeroU32::MIN)
        };
        let requests = |rate: NonZeroU32| {
            let rate = rate.min(FASTEST);
            let burst = rate.saturating_mul(NonZeroU32::MIN.saturating_add(4));
            RateLimiter::keyed(Quota::per_second(rate).allow_burst(burst))
        };
        let bytes = |rate: NonZeroU32| {
            let rate = kibibytes(rate.get() as usize);
            let burst = rate.max(kibibytes(largest_body));
            RateLimiter::keyed(Quota::per_second(rate).allow_burst(burst))
        };
        Self(Arc::new(Inner {
            requests: limits.requests_per_second.map(requests),
            bytes: limits.body_bytes_per_second.map(bytes),
            in_flight: Arc::new(Counts::default()),
            event_streams: Arc::new(Counts::default()),
            allowances: Allowances::default(),
            swept: RateLimiter::direct(Quota::per_second(NonZeroU32::MIN)),
            limits,
        }))
    }

    /// Lets a request in, until what is returned is dropped.
    pub(crate) fn admit(&self, principal: &Principal) -> Result<InFlight, Refusal> {
        self.admit_frame(principal)?;
        let limit = self.0.limits.requests_in_flight;
        Counts::enter(&self.0.in_flight, principal, limit).ok_or(Refusal {
            code: "too_many_requests_in_flight",
            message: "too many requests are in flight: see --max-requests-in-flight",
            wait: SOON,
        })
    }

    /// Lets a stream of events open, until what is returned is dropped.
    pub(crate) fn admit_event_stream(&self, principal: &Principal) -> Result<EventStream, Refusal> {
        let limit = self.0.limits.event_streams;
        Counts::enter(&self.0.event_streams, principal, limit).ok_or(Refusal {
            code: "too_many_event_streams",
            message: "too many streams of events are open: see --max-event-streams",
            wait: PEOPLE,
        })
    }

    /// Lets one more frame of a socket in, which is a request without a connection of its own.
    pub(crate) fn admit_frame(&self, principal: &Principal) -> Result<(), Refusal> {
        let Some(limiter) = &self.0.requests else {
            return Ok(());
        };
        self.sweep(limiter);
        let refused = |until: NotUntil<_>| Refusal {
            code: "too_many_requests",
            message: "too many requests came in a short time: see --max-requests-per-second",
            wait: until.wait_time_from(limiter.clock().now()),
        };
        limiter.check_key(principal).map_err(refused)
    }

    /// Counts this many bytes.
    pub(crate) fn admit_bytes(&self, principal: &Principal, bytes: usize) -> Result<(), Refusal> {
        let Some(limiter) = &self.0.bytes else {
            return Ok(());
        };
        let kibibytes = u32::try_from(bytes.div_ceil(KIBIBYTE)).unwrap_or(u32::MAX);
        let Some(kibibytes) = NonZeroU32::new(kibibytes) else {
            return Ok(());
        };
        self.sweep(limiter);
        let refusal = |wait| Refusal {
            code: "too_many_bytes",
            message: "too many bytes came in a short time: see --max-body-bytes-per-second",
            wait,
        };
        match limiter.check_key_n(principal, kibibytes) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(until)) => Err(refusal(until.wait_time_from(limiter.clock().now()))),
            // More than any body may have, which is refused for that.
            Err(_) => Ok(()),
        }
    }

    /// Lets a request in that may begin a turn.
    ///
    /// The store is asked how much is open; as long as there is room, not again before half of the
    /// room may be used up, by turns that open as many gates as a turn may.
    pub(crate) async fn admit_turn(
        &self,
        engine: &Engine,
        principal: &Principal,
        request: &Request,
    ) -> Result<(), Problem> {
        let (chats, gates) = (self.0.limits.open_chats, self.0.limits.open_approvals);
        let limit = chats.max(gates);
        let Some(limit) = limit.filter(|_| may_begin_a_turn(request)) else {
            return Ok(());
        };
        if self.0.allowances.take(principal) {
            return Ok(());
        }
        let limit = usize::try_from(limit.get()).unwrap_or(usize::MAX);
        let usage = engine.usage(principal, &request.chat, limit).await?;
        let room = |limit: Option<NonZeroU32>, open: usize| {
            let open = u32::try_from(open).unwrap_or(u32::MAX);
            limit.map_or(u32::MAX, |limit| limit.get().saturating_sub(open))
        };
        let refusal = |code, message| Refusal {
            code,
            message,
            wait: PEOPLE,
        };
        // A new message in a chat that is open takes the place of what is open there.
        let refused = match (room(gates, usage.open_gates), room(chats, usage.open_chats)) {
            _ if usage.is_open => None,
            (0, _) => Some(refusal(
                "too_many_open_approvals",
                "too many approvals wait for an answer: see --max-open-approvals",
            )),
            (_, 0) => Some(refusal(
                "too_many_open_chats",
                "too many chats have a turn that has not ended: see --max-open-chats",
            )),
            (gates, chats) => {
                let turns = gates / GATES_PER_TURN;
                self.0.allowances.give(principal, turns.min(chats) / 2);
                None
            }
        };
        match refused {
            Some(refusal) => Err(refusal.into()),
            None => Ok(()),
        }
    }

    /// Forgets principals that have sent nothing for a while. It visits all of them, so it is done rarely.
    fn sweep(&self, limiter: &DefaultKeyedRateLimiter<Principal>) {
        if limiter.len() >= PRINCIPALS && self.0.swept.check().is_ok() {
            limiter.retain_recent();
            limiter.shrink_to_fit();
        }
    }
}

/// Whether a request may begin a turn, and does not only answer what is open.
fn may_begin_a_turn(request: &Request) -> bool {
    let message_id = request.message_id.as_deref();
    view::may_open_turn(request.trigger, message_id, &request.messages)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(number: u32) -> Option<NonZeroU32> {
        NonZeroU32::new(number)
    }

    #[test]
    fn requests_in_flight_are_counted_for_each_principal_until_they_end() {
        let limits = QuotaLimits {
            requests_in_flight: number(2),
            ..QuotaLimits::NONE
        };
        let quotas = Quotas::new(limits, 1);
        let (ann, bob) = (Principal::from("ann"), Principal::from("bob"));
        let first = quotas.admit(&ann).ok().unwrap();
        let _second = quotas.admit(&ann).ok().unwrap();
        let refused = quotas.admit(&ann).err().unwrap();
        assert_eq!(refused.code, "too_many_requests_in_flight");
        assert!(quotas.admit(&bob).is_ok());
        drop(first);
        assert!(quotas.admit(&ann).is_ok());
    }

    #[test]
    fn requests_in_flight_leave_connections_to_others() {
        let within = |limits: QuotaLimits, max| limits.within_connections(max).requests_in_flight;
        assert_eq!(within(QuotaLimits::default(), 896), number(448));
        assert_eq!(within(QuotaLimits::default(), 65_536), number(1_000));
        assert_eq!(within(QuotaLimits::default(), 1), number(1));
        assert_eq!(within(QuotaLimits::NONE, 896), None);
    }

    #[test]
    fn requests_may_come_in_a_burst_and_then_at_a_rate() {
        let limits = QuotaLimits {
            requests_per_second: number(1),
            ..QuotaLimits::NONE
        };
        let quotas = Quotas::new(limits, 1);
        let (ann, bob) = (Principal::from("ann"), Principal::from("bob"));
        let admitted = (0..20).filter(|_| quotas.admit(&ann).is_ok()).count();
        assert!((5..10).contains(&admitted), "{admitted}");
        let refused = quotas.admit_frame(&ann).unwrap_err();
        assert_eq!(refused.code, "too_many_requests");
        assert!(refused.wait <= Duration::from_secs(1), "{refused:?}");
        assert!(quotas.admit(&bob).is_ok());
    }

    #[test]
    fn one_body_of_the_largest_size_may_always_come() {
        let limits = QuotaLimits {
            body_bytes_per_second: number(1024),
            ..QuotaLimits::NONE
        };
        let quotas = Quotas::new(limits, 4 * 1024 * 1024);
        let ann = Principal::from("ann");
        assert_eq!(quotas.admit_bytes(&ann, 4 * 1024 * 1024), Ok(()));
        let refused = quotas.admit_bytes(&ann, 1024 * 1024).unwrap_err();
        assert_eq!(refused.code, "too_many_bytes");
        assert!(refused.wait > Duration::from_secs(500), "{refused:?}");
        assert_eq!(quotas.admit_bytes(&ann, 0), Ok(()));
    }
}
