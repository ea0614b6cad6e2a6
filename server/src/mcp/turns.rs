//! The order in which calls are begun: that in which their lines came.
//!
//! rmcp runs each request in a task of its own, and the runtime starts those in any order. So a request takes a place
//! in line as it is read, carries it in its extensions, and is begun once every place before it has been given up. A
//! place is given up by dropping it: a request that is refused, cancelled or lost on its way holds nobody up.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// Places that are taken, by number, each with what wakes whoever waits in it.
#[derive(Debug, Default)]
struct Line {
    next: u64,
    places: BTreeMap<u64, Option<oneshot::Sender<()>>>,
}

/// Gives out places in line.
#[derive(Debug, Default)]
pub struct Turns(Arc<Mutex<Line>>);

impl Turns {
    /// The place behind all that were given out before.
    pub fn take(&self) -> Ticket {
        let mut line = lock(&self.0);
        let number = line.next;
        line.next += 1;
        line.places.insert(number, None);
        Ticket(Arc::new(Mutex::new(Some(Turn { line: Arc::clone(&self.0), number }))))
    }
}

/// A place in line as a request carries it: clones share the one place.
#[derive(Debug, Clone)]
pub struct Ticket(Arc<Mutex<Option<Turn>>>);

impl Ticket {
    /// Takes the place out of the request, once: whoever has it gives it up.
    pub fn redeem(&self) -> Option<Turn> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A place in line. Dropping it lets the next one go.
#[derive(Debug)]
pub struct Turn {
    line: Arc<Mutex<Line>>,
    number: u64,
}

impl Turn {
    /// Waits until every earlier place has been given up.
    pub async fn comes(&self) {
        let (wake, woken) = oneshot::channel();
        {
            let mut line = lock(&self.line);
            if line.places.first_key_value().is_none_or(|(first, _)| *first == self.number) {
                return;
            }
            line.places.insert(self.number, Some(wake));
        }
        // The sender leaves the line only by being used.
        drop(woken.await);
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut line = lock(&self.line);
        line.places.remove(&self.number);
        if let Some(mut first) = line.places.first_entry()
            && let Some(wake) = first.get_mut().take()
        {
            // Whoever waited may have been dropped, and gives its place up itself.
            let _dropped = wake.send(());
        }
    }
}

fn lock(line: &Mutex<Line>) -> MutexGuard<'_, Line> {
    line.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

    use super::*;

    #[tokio::test]
    async fn places_come_in_their_order_whoever_asks_first() {
        let turns = Turns::default();
        let began = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = Vec::new();
        let places: Vec<Turn> = (0..20).map(|_| turns.take().redeem().unwrap()).collect();
        for turn in places.into_iter().rev() {
            let began = Arc::clone(&began);
            tasks.push(tokio::spawn(async move {
                turn.comes().await;
                began.lock().unwrap().push(turn.number);
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*began.lock().unwrap(), (0..20).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn a_place_that_is_lost_lets_only_those_behind_it_go() {
        let turns = Turns::default();
        let first = turns.take().redeem().unwrap();
        let lost = turns.take();
        let last = turns.take().redeem().unwrap();
        drop(lost);
        let waits = tokio::spawn(async move { last.comes().await });
        tokio::task::yield_now().await;
        assert!(!waits.is_finished(), "the first still has its turn");
        drop(first);
        waits.await.unwrap();
    }

    #[test]
    fn a_place_is_redeemed_once() {
        let ticket = Turns::default().take();
        assert!(ticket.clone().redeem().is_some());
        assert!(ticket.redeem().is_none());
    }
}
