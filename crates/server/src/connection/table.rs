//! The open connections, and which of them is closed for a new one.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::limits::Caps;
use super::state::Connection;

/// How many bytes of large responses wait to be written, before clients that do not read are cut off
/// to free memory for others.
const UNREAD: usize = 64 * 1024 * 1024;

/// How many bytes of them there are at most, even if all clients read.
const MOST_UNREAD: usize = 2 * UNREAD;

/// How long a client may take nothing while others need the room.
const UNREAD_STALL: Duration = Duration::from_millis(100);

/// How long a client may take to read a large response while others need the room.
const UNREAD_SLOW: Duration = Duration::from_secs(3);

/// From how many bytes on a response is counted.
const LARGE: usize = 64 * 1024;

/// One connection in this many is closed at once, so that a flood does not search them all each time.
const EVICTED_PART: usize = 32;

/// How long no other search is made where one has found nothing to close.
const BARREN: Duration = Duration::from_millis(20);

/// The connections that are open.
#[derive(Debug)]
pub(super) struct Table {
    caps: Caps,
    epoch: Instant,
    open: Mutex<Open>,
    /// How many bytes of large responses are still to be written, on all connections.
    unread: AtomicUsize,
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    connections: HashMap<u64, (IpAddr, Arc<Connection>)>,
    addresses: HashMap<IpAddr, usize>,
    /// Where nothing could be closed, and until when that is taken for granted: a client that is refused comes
    /// again, and each time all connections would be searched.
    barren: Option<(Option<IpAddr>, Instant)>,
}

impl Open {
    fn remove(&mut self, id: u64) -> Option<Arc<Connection>> {
        let (address, connection) = self.connections.remove(&id)?;
        if let Some(count) = self.addresses.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                self.addresses.remove(&address);
            }
        }
        Some(connection)
    }

    /// Closes up to `count` connections, of one address or of any, and returns how many.
    fn evict(&mut self, count: usize, of: Option<IpAddr>) -> usize {
        let now = Instant::now();
        if self
            .barren
            .is_some_and(|(scope, until)| scope == of && now < until)
        {
            return 0;
        }
        let connections = self.connections.iter();
        let mut ranked: Vec<_> = connections
            .filter(|(_, (address, _))| of.is_none_or(|of| of == *address))
            .filter_map(|(id, (_, connection))| Some((connection.eviction_rank()?, *id)))
            .collect();
        if ranked.len() > count {
            ranked.select_nth_unstable(count);
            ranked.truncate(count);
        }
        for (_, id) in &ranked {
            if let Some(connection) = self.remove(*id) {
                connection.evict();
            }
        }
        self.barren = ranked.is_empty().then_some((of, now + BARREN));
        ranked.len()
    }
}

/// The outcome of a new connection.
#[derive(Debug)]
pub(super) struct Admission {
    /// Its place; none if there is no room for it.
    pub(super) slot: Option<Slot>,
    /// How many others were closed for it.
    pub(super) evicted: usize,
    /// How many are open, this one included.
    pub(super) open: usize,
}

impl Table {
    pub(super) fn new(caps: Caps) -> Arc<Self> {
        Arc::new(Self {
            caps,
            epoch: Instant::now(),
            open: Mutex::default(),
            unread: AtomicUsize::new(0),
        })
    }

    pub(super) fn caps(&self) -> Caps {
        self.caps
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        // Nothing that holds the lock can panic half-way through a change.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a connection a place, if there is one or one can be made.
    pub(super) fn admit(self: &Arc<Self>, peer: IpAddr) -> Admission {
        let address = network(peer);
        let mut open = self.open();
        let mut evicted = 0;
        let count = open.addresses.get(&address).copied().unwrap_or_default();
        if count >= self.caps.max_per_address {
            let part = self.caps.max_per_address.div_ceil(EVICTED_PART);
            evicted += open.evict(part, Some(address));
            if evicted == 0 {
                let open = open.connections.len();
                return Admission {
                    slot: None,
                    evicted,
                    open,
                };
            }
        }
        if open.connections.len() >= self.caps.max {
            evicted += open.evict(self.caps.max.div_ceil(EVICTED_PART), None);
        }
        let has_room = open.connections.len() < self.caps.max;
        let slot = has_room.then(|| {
            let id = open.next;
            open.next += 1;
            let connection = Arc::new(Connection::new(self.epoch));
            open.connections.insert(id, (address, connection.clone()));
            *open.addresses.entry(address).or_default() += 1;
            Slot {
                table: self.clone(),
                id,
                connection,
            }
        });
        Admission {
            slot,
            evicted,
            open: open.connections.len(),
        }
    }

    /// Closes some connections, since the system has no descriptor left; returns how many.
    pub(super) fn make_room(&self) -> usize {
        let part = self.caps.max.div_ceil(EVICTED_PART);
        self.open().evict(part, None)
    }

    /// Counts a response, or a piece of one, of this many bytes, until it is written. Where there are too
    /// many of them, clients are cut off: those that read nothing, then those that read slowly, and
    /// where that is not enough, the one that has been reading for longest. Returns how many.
    pub(super) fn respond(&self, connection: &Connection, bytes: usize) -> usize {
        if bytes < LARGE {
            return 0;
        }
        connection.add_unread(bytes);
        let unread = self.unread.fetch_add(bytes, Ordering::Relaxed) + bytes;
        match unread > UNREAD {
            true => self.cut_unread(connection, unread),
            false => 0,
        }
    }

    fn cut_unread(&self, newest: &Connection, unread: usize) -> usize {
        let mut open = self.open();
        let connections = open.connections.iter();
        let mut ranked: Vec<_> = connections
            .filter(|(_, (_, connection))| !std::ptr::eq(&raw const **connection, newest))
            .filter_map(|(id, (_, connection))| {
                let since = connection.unread_since()?;
                let rank = if let Some(stalled) = connection.stalled_for(UNREAD_STALL) {
                    (Reader::Stalled, stalled)
                } else if connection.is_past(since, UNREAD_SLOW) {
                    (Reader::Slow, since)
                } else {
                    (Reader::Steady, since)
                };
                Some((rank, *id))
            })
            .collect();
        ranked.sort_unstable();
        let (mut cut, mut freed) = (0, 0);
        for ((reader, _), id) in ranked {
            let limit = match reader {
                Reader::Stalled | Reader::Slow => UNREAD,
                Reader::Steady => MOST_UNREAD,
            };
            if unread - freed <= limit {
                break;
            }
            if let Some(connection) = open.remove(id) {
                freed += self.written(&connection);
                connection.evict();
                cut += 1;
            }
        }
        cut
    }

    /// A connection has nothing left to write; returns how many bytes it was.
    fn written(&self, connection: &Connection) -> usize {
        let bytes = connection.flushed();
        if bytes > 0 {
            self.unread.fetch_sub(bytes, Ordering::Relaxed);
        }
        bytes
    }

    pub(super) fn len(&self) -> usize {
        self.open().connections.len()
    }
}

/// How a client takes a large response, those first that are cut off first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reader {
    Stalled,
    Slow,
    Steady,
}

/// A connection's place in the table, until it is dropped.
#[derive(Debug)]
pub(super) struct Slot {
    table: Arc<Table>,
    id: u64,
    connection: Arc<Connection>,
}

impl Slot {
    pub(super) fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }

    /// All that there was to write is written.
    pub(super) fn flushed(&self) {
        self.table.written(&self.connection);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.table.written(&self.connection);
        // One that was evicted has left already.
        drop(self.table.open().remove(self.id));
    }
}

/// What is taken for one client: an address, or in IPv6, where a client has billions, its network.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(max: usize, max_per_address: usize) -> Arc<Table> {
        Table::new(Caps {
            max,
            max_per_address,
        })
    }

    fn address(last: u8) -> IpAddr {
        [192, 0, 2, last].into()
    }

    fn admitted(table: &Arc<Table>, last: u8) -> Slot {
        table.admit(address(last)).slot.expect("there is room")
    }

    #[tokio::test(start_paused = true)]
    async fn connection_without_a_request_makes_room_before_one_that_is_idle() {
        let table = table(3, 3);
        let slots: Vec<Slot> = (0..3).map(|last| admitted(&table, last)).collect();
        slots[0].connection().begin_request();
        slots[1].connection().begin_request();
        slots[1].connection().end_request();
        slots[1].flushed();
        for left in [2, 1] {
            let newcomer = table.admit(address(9));
            assert_eq!(newcomer.evicted, 1);
            assert!(slots[left].connection().evicted.load(Ordering::Relaxed));
            newcomer.slot.unwrap().connection().begin_request();
            let gone = admitted(&table, 8);
            gone.connection().begin_request();
            std::mem::forget(gone);
        }
        assert!(!slots[0].connection().evicted.load(Ordering::Relaxed));
        let refused = table.admit(address(9));
        assert!(refused.slot.is_none());
        assert_eq!((refused.evicted, refused.open), (0, 3));
    }

    #[tokio::test(start_paused = true)]
    async fn oldest_makes_room_first() {
        let table = table(2, 2);
        let first = admitted(&table, 1);
        tokio::time::advance(Duration::from_millis(5)).await;
        let second = admitted(&table, 2);
        let third = admitted(&table, 3);
        let evicted = |slot: &Slot| slot.connection().evicted.load(Ordering::Relaxed);
        assert!(evicted(&first) && !evicted(&second) && !evicted(&third));
    }

    #[tokio::test(start_paused = true)]
    async fn one_address_does_not_take_the_places_of_others() {
        let table = table(4, 2);
        let busy: Vec<Slot> = (0..2).map(|_| admitted(&table, 1)).collect();
        for slot in &busy {
            slot.connection().begin_request();
        }
        assert!(table.admit(address(1)).slot.is_none());
        let other = admitted(&table, 2);
        drop(busy);
        assert_eq!(table.len(), 1);
        drop(admitted(&table, 1));
        drop(other);
        assert_eq!(table.len(), 0);
        assert!(table.open().addresses.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn sockets_stay_and_responses_that_nobody_reads_go() {
        let table = table(2, 2);
        let (socket, stalled) = (admitted(&table, 1), admitted(&table, 2));
        socket.connection().begin_request();
        socket.connection().upgrade();
        socket.connection().end_request();
        stalled.connection().begin_request();
        stalled.connection().set_stalled(true);
        assert!(table.admit(address(3)).slot.is_none());
        tokio::time::advance(Duration::from_secs(4)).await;
        let newcomer = admitted(&table, 3);
        newcomer.connection().begin_request();
        assert!(stalled.connection().evicted.load(Ordering::Relaxed));
        assert!(table.admit(address(4)).slot.is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn responses_that_nobody_reads_take_no_more_than_their_share() {
        let table = table(100, 100);
        let evicted = |slot: &Slot| slot.connection().evicted.load(Ordering::Relaxed);
        let mut stalled = Vec::new();
        let reader = admitted(&table, 1);
        reader.connection().begin_request();
        assert_eq!(table.respond(reader.connection(), UNREAD / 4), 0);
        for number in 0..3 {
            let slot = admitted(&table, 2);
            slot.connection().begin_request();
            assert_eq!(table.respond(slot.connection(), UNREAD / 4), 0);
            slot.connection().end_request();
            slot.connection().set_stalled(true);
            tokio::time::advance(Duration::from_millis(number + 1)).await;
            stalled.push(slot);
        }
        // No client has stalled for long enough, so there is more than there should be.
        let newcomer = admitted(&table, 3);
        newcomer.connection().begin_request();
        assert_eq!(table.respond(newcomer.connection(), UNREAD / 4), 0);
        tokio::time::advance(UNREAD_STALL).await;
        // Small ones are not counted, and cut no client off.
        assert_eq!(table.respond(newcomer.connection(), 1000), 0);
        assert_eq!(table.respond(newcomer.connection(), LARGE), 2);
        assert!(evicted(&stalled[0]) && evicted(&stalled[1]));
        assert!(!evicted(&stalled[2]) && !evicted(&reader) && !evicted(&newcomer));
        drop((stalled, newcomer));
        reader.flushed();
        assert_eq!(table.unread.load(Ordering::Relaxed), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn clients_that_read_slowly_make_room_for_others() {
        let table = table(100, 100);
        let evicted = |slot: &Slot| slot.connection().evicted.load(Ordering::Relaxed);
        let respond = || {
            let slot = admitted(&table, 1);
            slot.connection().begin_request();
            let cut = table.respond(slot.connection(), UNREAD / 4);
            (slot, cut)
        };
        // None of them ever stalls: each takes a little all the time.
        let slow: Vec<_> = (0..4).map(|_| respond()).collect();
        assert!(slow.iter().all(|(_, cut)| *cut == 0));
        tokio::time::advance(UNREAD_SLOW + Duration::from_millis(1)).await;
        let (quick, cut) = respond();
        assert_eq!(cut, 1);
        assert_eq!(slow.iter().filter(|(slot, _)| evicted(slot)).count(), 1);
        // A client that has read all of it is not slow with the next one.
        quick.flushed();
        tokio::time::advance(UNREAD_SLOW * 2).await;
        table.respond(quick.connection(), UNREAD / 4);
        let (_newest, cut) = respond();
        assert_eq!(cut, 1);
        assert!(!evicted(&quick));
    }

    #[tokio::test(start_paused = true)]
    async fn responses_take_no_more_than_twice_their_share_however_well_they_are_read() {
        let table = table(100, 100);
        let mut slots = Vec::new();
        for number in 0..20 {
            let slot = admitted(&table, 1);
            slot.connection().begin_request();
            table.respond(slot.connection(), UNREAD / 4);
            tokio::time::advance(Duration::from_millis(1)).await;
            assert!(
                table.unread.load(Ordering::Relaxed) <= MOST_UNREAD,
                "{number}"
            );
            slots.push(slot);
        }
        let evicted = |slot: &Slot| slot.connection().evicted.load(Ordering::Relaxed);
        let left: Vec<bool> = slots.iter().map(|slot| !evicted(slot)).collect();
        assert_eq!(left, [[false; 12].as_slice(), &[true; 8]].concat());
    }

    #[test]
    fn client_of_ipv6_is_known_by_its_network() {
        let of = |text: &str| network(text.parse().unwrap()).to_string();
        assert_eq!(of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(of("::ffff:192.0.2.1"), "192.0.2.1");
        assert_eq!(of("192.0.2.1"), "192.0.2.1");
    }
}
