//! Sessions and regions as clients list and read them, without being agents at work there: what is read in this way
//! counts as told to nobody.

use dtmcp_core::call::{Read, View};
use dtmcp_core::reply::{Reply, region_status};
use dtmcp_core::resource::Address;
use dtmcp_core::text::visible::spell_out;
use tokio::sync::oneshot;

use super::pick::{Readable, command, look, no_task};
use super::{Handle, Hub};
use crate::driver::render::mask_text;
use crate::driver::{Look, Message};
use crate::mcp::desk::{Listed, Page, Unreadable};

/// A page ends with the session that fills it.
const PAGE: usize = 100;

/// The newest regions of a session that are listed; every other can be read too.
const RECENT: usize = 10;

/// Characters of a title or a description.
const WORDS: usize = 120;

/// Lines that a reader of a closed session sees; an open one's are clipped as a reply's.
const CLOSED_LINES: usize = 80;

impl Hub {
    /// The open sessions with their newest regions, behind an address.
    pub(super) async fn list_resources(&self, after: Option<&Address>) -> Page {
        self.parted().await;
        let mut page = Page::default();
        let mut handles = self.handles().into_iter().peekable();
        while let Some(handle) = handles.next() {
            if after.is_some_and(|after| handle.name < after.session) {
                continue;
            }
            let Some(look) = look(&handle, None).await else { continue };
            let entries = entries(&handle, &look).into_iter();
            page.entries.extend(entries.filter(|entry| after.is_none_or(|after| entry.address.is_behind(after))));
            if page.entries.len() >= PAGE && handles.peek().is_some() {
                page.more = true;
                break;
            }
        }
        page
    }

    /// What a reader sees of a session or a region.
    pub(super) async fn read_resource(&self, address: &Address) -> Result<Reply, Unreadable> {
        let readable = match self.readable(Some(&address.session)).await {
            Ok(readable) => readable,
            Err(reply) => return Err(Unreadable::Unknown(words(&reply))),
        };
        if let Readable::Open(handle) = &readable {
            let (reply, answer) = oneshot::channel();
            let asked = handle.mailbox.send(Message::Reading { region: address.region, reply }).await;
            match (asked, answer.await) {
                (Ok(()), Ok(Some(reply))) => return Ok(reply),
                // An old region is in the file only.
                (Ok(()), Ok(None)) => {}
                _ => return Err(Unreadable::Trouble(words(&no_task(&handle.name)))),
            }
        }
        let opened = match self.open_log(None, &readable).await {
            Ok(opened) => opened,
            Err(reply) => return Err(Unreadable::Trouble(words(&reply))),
        };
        if let Some(Err(reply)) = address.region.map(|id| opened.region_or_reply(id)) {
            return Err(Unreadable::Unknown(words(&reply)));
        }
        let read = Read {
            session: None,
            view: View::Cooked,
            region: address.region,
            from: None,
            to: None,
            last_lines: Some(CLOSED_LINES),
            max_lines: CLOSED_LINES,
            numbers: false,
        };
        let reply = super::looks::blocking(move || super::looks::read_cooked(&opened, &read)).await;
        if reply.is_error { Err(Unreadable::Trouble(words(&reply))) } else { Ok(reply) }
    }

    /// Whether there is such a session, or region.
    pub(super) async fn find_resource(&self, address: &Address) -> Result<(), String> {
        let readable = self.readable(Some(&address.session)).await.map_err(|reply| words(&reply))?;
        let Some(id) = address.region else { return Ok(()) };
        let opened = self.open_log(None, &readable).await.map_err(|reply| words(&reply))?;
        opened.region_or_reply(id).map(|_| ()).map_err(|reply| words(&reply))
    }
}

/// A session, and its newest regions.
fn entries(handle: &Handle, look: &Look) -> Vec<Listed> {
    let entry = |address, title: &str, description: &str| {
        let clean = |text: &str| {
            let line: String = text.lines().next().unwrap_or_default().chars().take(WORDS).collect();
            mask_text(spell_out(&line).into_owned(), look.nonce.as_deref())
        };
        Listed { address, title: clean(title), description: clean(description) }
    };
    let whole = entry(Address::session(&handle.name), &command(&handle.meta), &look.runs);
    let regions = look.regions.iter().rev().take(RECENT).map(|region| {
        let exit = region.exit.map_or_else(String::new, |exit| format!(" · exit {exit}"));
        let by = region.actor.as_deref().map_or_else(String::new, |actor| format!(" · by {actor}"));
        let description = format!(
            "{}{exit} · {} {}{by}",
            region_status(region),
            region.lines,
            if region.lines == 1 { "line" } else { "lines" }
        );
        entry(Address::region(&handle.name, region.id), &region.label, &description)
    });
    [whole].into_iter().chain(regions).collect()
}

fn words(reply: &Reply) -> String {
    reply.text.strip_prefix("error: ").unwrap_or(&reply.text).to_owned()
}
