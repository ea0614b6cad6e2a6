//! Sessions and regions as MCP resources: a client lists and reads them, and is told when one changes instead of asking
//! again and again.
//!
//! A client of the older life cycle subscribes to addresses one by one. It is told of opened and closed sessions once it
//! has shown that it knows of resources, by listing them or subscribing: others would only be woken. A client of the
//! newer one names all that it wants in one request, which stays open.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dtmcp_core::resource::{Address, SCHEME};
use dtmcp_core::text::visible::spell_out;
use rmcp::ErrorData;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, MetaObject, PaginatedRequestParams, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate, ResourceUpdatedNotificationParam, SubscriptionFilter,
};
use rmcp::service::{Peer, RoleServer, SubscriptionContext};
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::desk::{Desk, Listed, Page, Unreadable};
use super::handler::visible;
use crate::updates::{ADDRESSES_MAX, Ear, News, Subscriber};

/// The shortest time between two batches of news for a client. The first goes at once; what comes after it meanwhile is
/// told together, so that a program which asks and is answered in a loop wakes nobody a thousand times.
const NEWS_EVERY: Duration = Duration::from_millis(200);

/// Requests of one client that read or list at the same time; one more is refused before it costs memory.
const READS_MAX: usize = 64;

/// Streams of news that one client may have open.
const STREAMS_MAX: usize = 32;

/// What is kept of one client that reads resources.
#[derive(Debug)]
pub(super) struct Resources {
    reads: Semaphore,
    streams: Semaphore,
    /// What a client of the older life cycle subscribed to, once it has shown that it knows of resources.
    subscriber: Mutex<Option<Arc<Subscriber>>>,
    /// What was accepted of requests to listen that are about to begin: a change between the two is not to be lost.
    accepted: Mutex<Vec<(SubscriptionFilter, Subscriber)>>,
}

impl Resources {
    pub(super) fn new() -> Self {
        Self {
            reads: Semaphore::new(READS_MAX),
            streams: Semaphore::new(STREAMS_MAX),
            subscriber: Mutex::default(),
            accepted: Mutex::default(),
        }
    }

    /// `resources/list`.
    pub(super) async fn list(
        &self,
        desk: &dyn Desk,
        request: Option<PaginatedRequestParams>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let _place = self.reads.try_acquire().map_err(|_| busy())?;
        let after = match request.and_then(|request| request.cursor) {
            None => None,
            Some(cursor) => Some(Address::parse(&cursor).ok_or_else(|| {
                ErrorData::invalid_params("this cursor is none of ours; list again from the beginning", None)
            })?),
        };
        let Page { entries, more } = desk.resources(after.as_ref()).await;
        let next = entries.last().filter(|_| more).map(|last| last.address.to_string());
        let mut listed = ListResourcesResult::with_all_items(entries.into_iter().map(resource).collect());
        listed.next_cursor = next;
        Ok(listed)
    }

    /// `resources/templates/list`.
    pub(super) fn templates() -> ListResourceTemplatesResult {
        let template = |path: &str, name: &str, about: &str| {
            ResourceTemplate::new(format!("{SCHEME}{path}"), name).with_description(about).with_mime_type("text/plain")
        };
        ListResourceTemplatesResult::with_all_items(vec![
            template("{session}", "session", "What runs in a terminal session now, or ran last: status and output"),
            template("{session}/{region}", "region", "One command of a session, by its number: status and output"),
        ])
    }

    /// `resources/read`.
    pub(super) async fn read(&self, desk: &dyn Desk, uri: &str) -> Result<ReadResourceResult, ErrorData> {
        let _place = self.reads.try_acquire().map_err(|_| busy())?;
        let address = address(uri)?;
        let reply = desk.resource(&address).await.map_err(|why| match why {
            Unreadable::Unknown(why) => unknown(uri, &why),
            Unreadable::Trouble(why) => ErrorData::internal_error(spell_out(&why).into_owned(), None),
        })?;
        let mut meta = Map::new();
        meta.insert("dtmcp/reply".to_owned(), visible(Value::Object(reply.meta)));
        let contents = ResourceContents::text(spell_out(&reply.text), uri).with_meta(MetaObject(meta));
        Ok(ReadResourceResult::new(vec![contents]))
    }

    /// `resources/subscribe`.
    pub(super) async fn subscribe(&self, desk: &dyn Desk, uri: &str, client: Client) -> Result<(), ErrorData> {
        let address = address(uri)?;
        desk.knows(&address).await.map_err(|why| unknown(uri, &why))?;
        self.subscriber(desk, client)?.subscribe(address, uri).map_err(|full| refused(&full))
    }

    /// `resources/unsubscribe`; one that was not subscribed to is none any more.
    pub(super) fn unsubscribe(&self, uri: &str) -> Result<(), ErrorData> {
        let address = address(uri)?;
        let subscriber = self.subscriber.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(subscriber) = subscriber.as_ref() {
            subscriber.unsubscribe(address);
        }
        Ok(())
    }

    /// A client of the older life cycle knows of resources: from now on it is told of what it subscribes to, and of
    /// opened and closed sessions.
    pub(super) fn subscriber(&self, desk: &dyn Desk, client: Client) -> Result<Arc<Subscriber>, ErrorData> {
        let mut subscriber = self.subscriber.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(subscriber) = subscriber.as_ref() {
            return Ok(Arc::clone(subscriber));
        }
        let new = Arc::new(desk.updates().subscriber().map_err(|full| refused(&full))?);
        new.want_lists();
        tokio::spawn(tell(new.ear(), client));
        *subscriber = Some(Arc::clone(&new));
        Ok(new)
    }

    /// What of a request to listen is taken: addresses of ours, as many as one subscriber may have. From here on changes
    /// are kept for [`Self::listen`], which begins once the client has been told what was taken.
    pub(super) fn accept(&self, desk: &dyn Desk, requested: &SubscriptionFilter) -> SubscriptionFilter {
        let mut ours = SubscriptionFilter::new();
        ours.tools_list_changed = Some(true);
        ours.resources_list_changed = Some(true);
        ours.resource_subscriptions = requested
            .resource_subscriptions
            .as_ref()
            .map(|uris| uris.iter().filter(|uri| Address::parse(uri).is_some()).take(ADDRESSES_MAX).cloned().collect());
        let taken = requested.intersection(&ours);
        let mut accepted = self.accepted.lock().unwrap_or_else(PoisonError::into_inner);
        if accepted.len() < STREAMS_MAX
            && let Ok(subscriber) = desk.updates().subscriber()
        {
            for uri in taken.resource_subscriptions.iter().flatten() {
                if let Some(address) = Address::parse(uri) {
                    // There are no more than it may have.
                    let _none_too_many = subscriber.subscribe(address, uri);
                }
            }
            if taken.resources_list_changed == Some(true) {
                subscriber.want_lists();
            }
            accepted.push((taken.clone(), subscriber));
        }
        taken
    }

    /// `subscriptions/listen`: tells what was accepted until the client or the server ends it.
    pub(super) async fn listen(&self, context: &SubscriptionContext) -> Result<(), ErrorData> {
        let subscriber = self.begin(context.accepted()).ok_or_else(busy)?;
        let _place = self.streams.try_acquire().map_err(|_| busy())?;
        let (ear, sink) = (subscriber.ear(), context.sink());
        while let Some(News { addresses, list }) = ear.next().await {
            let told = async {
                for uri in addresses {
                    sink.notify_resource_updated(uri).await?;
                }
                if list { sink.notify_resource_list_changed().await } else { Ok(()) }
            };
            if let Err(error) = told.await {
                tracing::debug!(%error, "a client that listened is gone");
                break;
            }
            tokio::time::sleep(NEWS_EVERY).await;
        }
        Ok(())
    }

    /// Requests that want the same are the same, so any of them will do.
    fn begin(&self, filter: &SubscriptionFilter) -> Option<Subscriber> {
        let mut accepted = self.accepted.lock().unwrap_or_else(PoisonError::into_inner);
        let at = accepted.iter().position(|(taken, _)| taken == filter)?;
        Some(accepted.swap_remove(at).1)
    }
}

/// Where a client of the older life cycle is told of news.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) peer: Peer<RoleServer>,
    /// Fires when it is gone.
    pub(super) gone: CancellationToken,
}

async fn tell(ear: Ear, client: Client) {
    let news = async {
        while let Some(News { addresses, list }) = ear.next().await {
            let told = async {
                for uri in addresses {
                    client.peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await?;
                }
                if list { client.peer.notify_resource_list_changed().await } else { Ok(()) }
            };
            if let Err(error) = told.await {
                tracing::debug!(%error, "a client that subscribed is gone");
                break;
            }
            tokio::time::sleep(NEWS_EVERY).await;
        }
    };
    tokio::select! {
        () = news => {}
        () = client.gone.cancelled() => {}
    }
}

fn resource(Listed { address, title, description }: Listed) -> Resource {
    let name = match address.region {
        Some(region) => format!("{} #{region}", address.session),
        None => address.session.clone(),
    };
    Resource::new(address.to_string(), name)
        .with_title(title)
        .with_description(description)
        .with_mime_type("text/plain")
}

fn address(uri: &str) -> Result<Address, ErrorData> {
    Address::parse(uri).ok_or_else(|| unknown(uri, "addresses are dtmcp://SESSION and dtmcp://SESSION/REGION"))
}

fn unknown(uri: &str, why: &str) -> ErrorData {
    let uri: String = uri.chars().take(256).collect();
    ErrorData::resource_not_found(spell_out(why).into_owned(), Some(json!({ "uri": uri })))
}

fn refused(why: &impl std::fmt::Display) -> ErrorData {
    ErrorData::invalid_request(why.to_string(), None)
}

fn busy() -> ErrorData {
    refused(&"this client has too many such requests open already; wait until some have ended")
}
