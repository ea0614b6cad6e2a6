//! Who is told when a session or a region changes: the clients that subscribed to it.
//!
//! Whoever tells never waits for whoever is told: what is new is kept for each subscriber, each address once, until it
//! comes for it. So a client that does not read costs no more than what it subscribed to.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dtmcp_core::resource::Address;
use tokio::sync::{Notify, watch};

/// Addresses that one subscriber may have: all sessions there can be, and more regions than anyone looks at.
pub const ADDRESSES_MAX: usize = 512;

/// Subscribers of a server; a client has one, and one for each stream that it listens on.
pub const SUBSCRIBERS_MAX: usize = 2048;

/// Why a subscription is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full(usize);

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there are {} subscriptions already; end some of them first", self.0)
    }
}

/// What is new for a subscriber.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct News {
    /// The addresses to be read anew, as they were subscribed to.
    pub addresses: BTreeSet<String>,
    /// Whether there are other sessions.
    pub list: bool,
}

#[derive(Debug, Default)]
struct Entry {
    /// By session and region, with the text that was subscribed to.
    addresses: BTreeMap<(String, Option<u32>), String>,
    lists: bool,
    news: News,
    wake: Arc<Notify>,
}

#[derive(Debug, Default)]
struct State {
    last: u64,
    subscribers: BTreeMap<u64, Entry>,
}

/// The subscribers of a server.
#[derive(Debug)]
pub struct Updates {
    state: Mutex<State>,
    /// The sessions that somebody watches.
    watched: watch::Sender<BTreeSet<String>>,
}

impl Default for Updates {
    fn default() -> Self {
        Self { state: Mutex::default(), watched: watch::channel(BTreeSet::new()).0 }
    }
}

impl Updates {
    /// A new subscriber, which wants nothing yet.
    ///
    /// # Errors
    /// Where there are [`SUBSCRIBERS_MAX`].
    pub fn subscriber(self: &Arc<Self>) -> Result<Subscriber, Full> {
        let mut state = self.lock();
        if state.subscribers.len() >= SUBSCRIBERS_MAX {
            return Err(Full(SUBSCRIBERS_MAX));
        }
        state.last += 1;
        let (id, entry) = (state.last, Entry::default());
        let wake = Arc::clone(&entry.wake);
        state.subscribers.insert(id, entry);
        Ok(Subscriber { updates: Arc::clone(self), id, wake })
    }

    /// A session looks different, or this region of it, which is then part of the difference.
    pub fn changed(&self, session: &str, region: Option<u32>) {
        for entry in self.lock().subscribers.values_mut() {
            let whole = entry.addresses.get(&(session.to_owned(), None));
            let part = region.and_then(|id| entry.addresses.get(&(session.to_owned(), Some(id))));
            let before = entry.news.addresses.len();
            entry.news.addresses.extend(whole.into_iter().chain(part).cloned());
            if entry.news.addresses.len() > before {
                entry.wake.notify_one();
            }
        }
    }

    /// A session was opened or closed.
    pub fn list_changed(&self) {
        for entry in self.lock().subscribers.values_mut().filter(|entry| entry.lists) {
            entry.news.list = true;
            entry.wake.notify_one();
        }
    }

    /// The sessions that somebody watches, now and later.
    #[must_use]
    pub fn watched(&self) -> watch::Receiver<BTreeSet<String>> {
        self.watched.subscribe()
    }

    fn tell_watched(&self, state: &State) {
        let addresses = state.subscribers.values().flat_map(|entry| entry.addresses.keys());
        let now: BTreeSet<String> = addresses.map(|(session, _)| session.clone()).collect();
        self.watched.send_if_modified(|watched| {
            let changed = *watched != now;
            *watched = now;
            changed
        });
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One that is told; dropping it ends what it subscribed to.
#[derive(Debug)]
pub struct Subscriber {
    updates: Arc<Updates>,
    id: u64,
    wake: Arc<Notify>,
}

impl Subscriber {
    /// From now on this address is told of, under the text it was given as.
    ///
    /// # Errors
    /// Where this one has [`ADDRESSES_MAX`].
    pub fn subscribe(&self, address: Address, uri: &str) -> Result<(), Full> {
        let mut state = self.updates.lock();
        let Some(entry) = state.subscribers.get_mut(&self.id) else { return Ok(()) };
        let key = (address.session, address.region);
        if entry.addresses.len() >= ADDRESSES_MAX && !entry.addresses.contains_key(&key) {
            return Err(Full(ADDRESSES_MAX));
        }
        entry.addresses.insert(key, uri.to_owned());
        self.updates.tell_watched(&state);
        Ok(())
    }

    /// This address is told of no more, and nothing is left to be told.
    pub fn unsubscribe(&self, address: Address) {
        let mut state = self.updates.lock();
        if let Some(entry) = state.subscribers.get_mut(&self.id)
            && let Some(uri) = entry.addresses.remove(&(address.session, address.region))
        {
            entry.news.addresses.remove(&uri);
        }
        self.updates.tell_watched(&state);
    }

    /// From now on this one is told when sessions are opened and closed.
    pub fn want_lists(&self) {
        if let Some(entry) = self.updates.lock().subscribers.get_mut(&self.id) {
            entry.lists = true;
        }
    }

    /// Where this one's news can be fetched, also after it is dropped: then there are none.
    #[must_use]
    pub fn ear(&self) -> Ear {
        Ear { updates: Arc::clone(&self.updates), id: self.id, wake: Arc::clone(&self.wake) }
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        let mut state = self.updates.lock();
        state.subscribers.remove(&self.id);
        self.updates.tell_watched(&state);
        // Whoever fetches its news finds out that there is nobody to fetch them for.
        self.wake.notify_one();
    }
}

/// Fetches a subscriber's news.
#[derive(Debug)]
pub struct Ear {
    updates: Arc<Updates>,
    id: u64,
    wake: Arc<Notify>,
}

impl Ear {
    /// Waits for news and takes them; none once the subscriber is gone.
    pub async fn next(&self) -> Option<News> {
        loop {
            match self.updates.lock().subscribers.get_mut(&self.id) {
                None => return None,
                Some(entry) if entry.news != News::default() => return Some(std::mem::take(&mut entry.news)),
                Some(_) => {}
            }
            self.wake.notified().await;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

    use super::*;

    fn news(addresses: &[&str], list: bool) -> News {
        News { addresses: addresses.iter().map(|&uri| uri.to_owned()).collect(), list }
    }

    #[tokio::test]
    async fn each_is_told_what_it_subscribed_to_and_once() {
        let updates = Arc::new(Updates::default());
        let (one, two) = (updates.subscriber().unwrap(), updates.subscriber().unwrap());
        one.subscribe(Address::session("t1"), "dtmcp://t1/").unwrap();
        two.subscribe(Address::region("t1", 2), "dtmcp://t1/2").unwrap();
        two.want_lists();
        for region in [Some(1), Some(1), None] {
            updates.changed("t1", region);
            updates.changed("t2", region);
        }
        updates.list_changed();
        assert_eq!(one.ear().next().await.unwrap(), news(&["dtmcp://t1/"], false), "under its own words");
        assert_eq!(two.ear().next().await.unwrap(), news(&[], true));
        updates.changed("t1", Some(2));
        assert_eq!(two.ear().next().await.unwrap(), news(&["dtmcp://t1/2"], false));
        two.unsubscribe(Address::region("t1", 2));
        updates.changed("t1", Some(2));
        updates.list_changed();
        assert_eq!(two.ear().next().await.unwrap(), news(&[], true), "no more");
    }

    #[tokio::test]
    async fn a_session_is_watched_for_as_long_as_somebody_does() {
        let updates = Arc::new(Updates::default());
        let watched = updates.watched();
        let (one, two) = (updates.subscriber().unwrap(), updates.subscriber().unwrap());
        one.subscribe(Address::session("t1"), "dtmcp://t1").unwrap();
        two.subscribe(Address::region("t1", 2), "dtmcp://t1/2").unwrap();
        drop(one);
        assert!(watched.borrow().contains("t1"));
        let ear = two.ear();
        let waits = tokio::spawn(async move { ear.next().await });
        tokio::task::yield_now().await;
        drop(two);
        assert!(watched.borrow().is_empty());
        assert_eq!(waits.await.unwrap(), None);
    }

    #[test]
    fn nobody_subscribes_to_more_than_there_is_room_for() {
        let updates = Arc::new(Updates::default());
        let one = updates.subscriber().unwrap();
        for id in 0..u32::try_from(ADDRESSES_MAX).unwrap() {
            one.subscribe(Address::region("t1", id), "x").unwrap();
        }
        assert_eq!(one.subscribe(Address::session("t1"), "x"), Err(Full(ADDRESSES_MAX)));
        assert_eq!(one.subscribe(Address::region("t1", 0), "again"), Ok(()));
        let all: Vec<Subscriber> = (1..SUBSCRIBERS_MAX).map(|_| updates.subscriber().unwrap()).collect();
        assert_eq!(updates.subscriber().err(), Some(Full(SUBSCRIBERS_MAX)));
        drop(all);
        assert!(updates.subscriber().is_ok());
    }
}
