//! How many connections there may be at a time, and which one makes way for another.
//!
//! Whoever connects and says nothing must not keep out those who have something to say. Where every place is taken, the
//! connection that has been idle longest is closed: of those that never asked anything they were allowed to, if there is
//! one, since anybody can open them. One whose request is being answered never makes way, nor does a bridge's.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio_util::sync::CancellationToken;

/// The places of one listener. Clones are the same room.
#[derive(Debug, Clone)]
pub(super) struct Room {
    max: usize,
    places: Arc<Mutex<Places>>,
}

#[derive(Debug, Default)]
struct Places {
    /// Counts connections and the times that one became idle, so that the lowest is the oldest.
    turn: u64,
    taken: BTreeMap<u64, Taken>,
}

#[derive(Debug)]
struct Taken {
    /// Requests that are being answered.
    requests: usize,
    /// Since which turn there are none.
    idle: u64,
    /// Whether something was asked that may be asked.
    welcome: bool,
    leave: CancellationToken,
}

impl Room {
    pub(super) fn new(max: usize) -> Self {
        Self { max, places: Arc::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a connection; none where all are taken by connections that are at work.
    pub(super) fn take(&self) -> Option<Place> {
        let mut places = self.lock();
        if places.taken.len() >= self.max && !places.make_way() {
            return None;
        }
        places.turn += 1;
        let id = places.turn;
        let leave = CancellationToken::new();
        places.taken.insert(id, Taken { requests: 0, idle: id, welcome: false, leave: leave.clone() });
        Some(Place { room: self.clone(), id, leave })
    }

    /// Closes one connection that is idle, if there is one.
    pub(super) fn make_way(&self) -> bool {
        self.lock().make_way()
    }
}

impl Places {
    fn make_way(&mut self) -> bool {
        let idle = self.taken.iter().filter(|(_, taken)| taken.requests == 0);
        let Some(id) = idle.min_by_key(|(_, taken)| (taken.welcome, taken.idle)).map(|(id, _)| *id) else {
            return false;
        };
        if let Some(taken) = self.taken.remove(&id) {
            taken.leave.cancel();
        }
        true
    }
}

/// A connection's place, given up when dropped.
#[derive(Debug)]
pub(super) struct Place {
    room: Room,
    id: u64,
    leave: CancellationToken,
}

impl Place {
    /// Ends when the connection has to make way.
    pub(super) async fn to_leave(&self) {
        self.leave.cancelled().await;
    }

    /// Says that a request has come, until what is returned is dropped; none where the connection has to make way
    /// already, and nothing must be begun any more.
    pub(super) fn work(self: &Arc<Self>) -> Option<Work> {
        self.room.lock().taken.get_mut(&self.id)?.requests += 1;
        Some(Work { place: Arc::clone(self) })
    }

    /// Says that what came over the connection may be asked.
    pub(super) fn welcome(&self) {
        if let Some(taken) = self.room.lock().taken.get_mut(&self.id) {
            taken.welcome = true;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        drop(self.room.lock().taken.remove(&self.id));
    }
}

/// A request that is being answered; it holds its connection's place.
#[derive(Debug)]
pub(super) struct Work {
    place: Arc<Place>,
}

impl Drop for Work {
    fn drop(&mut self) {
        let mut places = self.place.room.lock();
        places.turn += 1;
        let now = places.turn;
        if let Some(taken) = places.taken.get_mut(&self.place.id) {
            taken.requests -= 1;
            taken.idle = now;
        }
    }
}

/// A body whose connection is at work until the last of it is sent, as a stream of events is for hours.
#[derive(Debug)]
pub(super) struct Held<B> {
    body: B,
    _work: Work,
}

impl<B> Held<B> {
    pub(super) fn new(body: B, work: Work) -> Self {
        Self { body, _work: work }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Held<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn left(place: &Place) -> bool {
        place.leave.is_cancelled()
    }

    #[test]
    fn the_one_that_was_idle_longest_makes_way() {
        let room = Room::new(3);
        let places: Vec<Arc<Place>> = (0..3).map(|_| Arc::new(room.take().unwrap())).collect();
        // The oldest has been at work since, and is idle again.
        drop(places[0].work().unwrap());
        let _fourth = room.take().unwrap();
        assert_eq!(places.iter().map(|place| left(place)).collect::<Vec<_>>(), [false, true, false]);
        let _fifth = room.take().unwrap();
        assert_eq!(places.iter().map(|place| left(place)).collect::<Vec<_>>(), [false, true, true]);
        assert!(places[1].work().is_none(), "nothing is begun on one that makes way");
    }

    #[test]
    fn one_at_work_stays_and_with_all_at_work_nobody_else_comes_in() {
        let room = Room::new(2);
        let (one, two) = (Arc::new(room.take().unwrap()), Arc::new(room.take().unwrap()));
        let (first, second) = (one.work().unwrap(), two.work().unwrap());
        let again = one.work().unwrap();
        assert!(room.take().is_none());
        drop(first);
        assert!(room.take().is_none(), "it answers another still");
        drop(again);
        let third = room.take().unwrap();
        assert!(left(&one) && !left(&two));
        drop((third, second, two));
        // Places are given back.
        let _all = (room.take().unwrap(), room.take().unwrap());
    }

    #[test]
    fn strangers_make_way_before_those_who_were_let_in() {
        let room = Room::new(2);
        let (known, stranger) = (room.take().unwrap(), room.take().unwrap());
        known.welcome();
        let next = room.take().unwrap();
        assert!(left(&stranger) && !left(&known));
        next.welcome();
        let _last = room.take().unwrap();
        assert!(left(&known) && !left(&next));
    }
}
