//! Frames that are still coming: how many bytes of them are held, on all sockets together.
//!
//! A frame is counted against its principal's quota once it is whole. Until then a client could have
//! the server hold as many bytes as it has sockets and a frame may have.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use turn::Principal;

/// From how many bytes on a frame is counted.
const LARGE: usize = 64 * 1024;

/// How many bytes all frames that are still coming may hold.
const ALL: usize = 32 * 1024 * 1024;

/// The frames that are still coming. Cloning it is cheap, and gives the same frames.
#[derive(Clone, Default)]
pub struct Frames(Arc<Mutex<Coming>>);

#[derive(Default)]
struct Coming {
    /// By the order in which they became large.
    frames: BTreeMap<u64, Frame>,
    next: u64,
    bytes: usize,
    shares: HashMap<Principal, usize>,
}

struct Frame {
    principal: Principal,
    bytes: usize,
    cut: Arc<Notify>,
}

impl Coming {
    fn remove(&mut self, place: u64) -> Option<Frame> {
        let frame = self.frames.remove(&place)?;
        self.bytes -= frame.bytes;
        if let Some(share) = self.shares.get_mut(&frame.principal) {
            *share -= frame.bytes;
            if *share == 0 {
                self.shares.remove(&frame.principal);
            }
        }
        Some(frame)
    }

    fn add(&mut self, place: u64, bytes: usize) {
        let Some(frame) = self.frames.get_mut(&place) else {
            return;
        };
        frame.bytes += bytes;
        self.bytes += bytes;
        match self.shares.get_mut(&frame.principal) {
            Some(share) => *share += bytes,
            None => {
                self.shares.insert(frame.principal.clone(), bytes);
            }
        }
    }

    /// Cuts off the frame of a principal that has been coming for longest.
    fn cut_oldest_of(&mut self, principal: &Principal) {
        let mut frames = self.frames.iter();
        let oldest = frames.find(|(_, frame)| frame.principal == *principal);
        if let Some(place) = oldest.map(|(place, _)| *place)
            && let Some(frame) = self.remove(place)
        {
            frame.cut.notify_one();
        }
    }
}

impl Frames {
    fn lock(&self) -> MutexGuard<'_, Coming> {
        // Nothing that holds the lock can panic half-way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The frames of one more socket.
    pub(super) fn of_socket(&self, principal: &Principal) -> Arc<SocketFrames> {
        Arc::new(SocketFrames {
            all: self.clone(),
            principal: principal.clone(),
            bytes: AtomicUsize::new(0),
            place: Mutex::new(None),
            cut: Arc::default(),
        })
    }
}

/// The frame that is coming on one socket.
pub(super) struct SocketFrames {
    all: Frames,
    principal: Principal,
    /// Since the last whole frame.
    bytes: AtomicUsize,
    /// Its place among the others, once it is large.
    place: Mutex<Option<u64>>,
    cut: Arc<Notify>,
}

impl SocketFrames {
    /// Counts bytes that have come. Where there are too many in all, those who hold the most have to
    /// give some up: of the principal's frames, the one that has been coming for longest.
    pub(super) fn received(&self, bytes: usize) {
        let whole = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if whole < LARGE {
            return;
        }
        let mut coming = self.all.lock();
        let mut place = self.place();
        match *place {
            Some(place) => coming.add(place, bytes),
            None => {
                let next = coming.next;
                coming.next += 1;
                let frame = Frame {
                    principal: self.principal.clone(),
                    bytes: 0,
                    cut: self.cut.clone(),
                };
                coming.frames.insert(next, frame);
                coming.add(next, whole);
                *place = Some(next);
            }
        }
        drop(place);
        while coming.bytes > ALL {
            let shares = coming.shares.iter();
            let Some((largest, _)) = shares.max_by_key(|(_, bytes)| **bytes) else {
                break;
            };
            let largest = largest.clone();
            coming.cut_oldest_of(&largest);
        }
    }

    /// The frame is whole.
    pub(super) fn completed(&self) {
        if self.bytes.swap(0, Ordering::Relaxed) < LARGE {
            return;
        }
        // Not under the lock of the place: it is taken second elsewhere.
        let place = self.place().take();
        if let Some(place) = place {
            self.all.lock().remove(place);
        }
    }

    /// Waits until the socket has to be closed for what it holds.
    pub(super) async fn is_cut(&self) {
        self.cut.notified().await;
    }

    fn place(&self) -> MutexGuard<'_, Option<u64>> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for SocketFrames {
    fn drop(&mut self) {
        self.completed();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1024 * 1024;

    fn is_cut(socket: &SocketFrames) -> bool {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let cut = std::pin::pin!(socket.is_cut());
        cut.poll(&mut context).is_ready()
    }

    #[test]
    fn where_all_hold_too_much_the_oldest_frame_is_given_up() {
        let frames = Frames::default();
        let sockets: Vec<_> = (0..9)
            .map(|_| frames.of_socket(&Principal::from("ann")))
            .collect();
        for socket in &sockets[..8] {
            socket.received(4 * MIB);
        }
        assert!(!sockets.iter().any(|socket| is_cut(socket)));
        sockets[8].received(4 * MIB);
        let cut: Vec<bool> = sockets.iter().map(|socket| is_cut(socket)).collect();
        assert_eq!(cut, [&[true][..], &[false; 8]].concat());
        // What is whole is held no more.
        sockets[1].completed();
        sockets[1].received(4 * MIB);
        assert!(!sockets.iter().any(|socket| is_cut(socket)));
        drop(sockets);
        let coming = frames.lock();
        assert_eq!((coming.bytes, coming.frames.len()), (0, 0));
        assert!(coming.shares.is_empty());
    }

    #[test]
    fn who_holds_the_most_makes_room_for_others() {
        let frames = Frames::default();
        let behaved = frames.of_socket(&Principal::from("bob"));
        behaved.received(2 * MIB);
        let hostile = Principal::from("ann");
        let hostile: Vec<_> = (0..20).map(|_| frames.of_socket(&hostile)).collect();
        for socket in &hostile {
            socket.received(3 * MIB);
        }
        behaved.received(2 * MIB);
        assert!(!is_cut(&behaved));
        assert!(frames.lock().bytes <= ALL);
    }

    #[test]
    fn small_frames_are_not_counted() {
        let frames = Frames::default();
        let socket = frames.of_socket(&Principal::from("ann"));
        socket.received(LARGE - 1);
        assert_eq!(frames.lock().bytes, 0);
        socket.completed();
        socket.received(LARGE - 1);
        assert_eq!(frames.lock().bytes, 0);
    }
}
