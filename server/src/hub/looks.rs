//! `read`, `search` and `regions`: functions over the log, away from the session's task.

use std::path::PathBuf;

use dtmcp_core::call::{Read, Search, View};
use dtmcp_core::lines::Lines as _;
use dtmcp_core::pattern::Pattern;
use dtmcp_core::read::{Keep, page};
use dtmcp_core::region::Region;
use dtmcp_core::reply::{Reply, region_fields, region_line, region_status};
use dtmcp_core::search::{Found, Hit, search};
use dtmcp_core::text::visible::spell_out;
use serde_json::{Value, json};

use super::pick::{Readable, look, no_task};
use super::raw::read_raw;
use super::{Hub, create, recover, region_files};
use crate::driver::render::{mask, whole};
use crate::store::lines::LogLines;

/// A session's log as it is read.
pub(super) struct Opened {
    pub(super) name: String,
    pub(super) dir: PathBuf,
    pub(super) lines: LogLines,
    pub(super) regions: Vec<Region>,
    notes: Vec<String>,
    pub(super) nonce: Option<String>,
}

impl Hub {
    /// The log of a session; `actor`, if anyone, is told what has finished.
    pub(super) async fn open_log(&self, actor: Option<&str>, readable: &Readable) -> Result<Opened, Box<Reply>> {
        match readable {
            Readable::Open(handle) => {
                let look = look(handle, actor).await.ok_or_else(|| Box::new(no_task(&handle.name)))?;
                Ok(Opened {
                    name: handle.name.clone(),
                    dir: handle.dir.clone(),
                    lines: look.lines,
                    regions: look.regions,
                    notes: look.notes,
                    nonce: look.nonce,
                })
            }
            Readable::Closed { name, dir, .. } => {
                let lines = LogLines::open(&dir.join("session.txt"));
                let lines = lines
                    .map_err(|error| Box::new(Reply::error(Some(name), &format!("its log cannot be read: {error}"))))?;
                Ok(Opened {
                    name: name.clone(),
                    lines,
                    regions: recover::read_regions(dir),
                    notes: Vec::new(),
                    nonce: create::nonce(dir).map(|nonce| nonce.as_str().to_owned()),
                    dir: dir.clone(),
                })
            }
        }
    }

    pub(super) async fn read(&self, actor: &str, read: Read) -> Reply {
        let readable = match self.readable(read.session.as_deref()).await {
            Ok(readable) => readable,
            Err(reply) => return *reply,
        };
        if read.view == View::Screen {
            return self.read_screen(&readable).await;
        }
        let opened = match self.open_log(Some(actor), &readable).await {
            Ok(opened) => opened,
            Err(reply) => return *reply,
        };
        if let (Some(id), Readable::Open(handle)) = (read.region, &readable)
            && let Some(region) = opened.region(id)
        {
            handle.region_files.write(region, opened.lines.clone());
        }
        if let (Some(id), Readable::Closed { dir, .. }) = (read.region, &readable)
            && let Some(region) = opened.region(id)
        {
            let (dir, lines) = (dir.join("regions"), opened.lines.clone());
            // A copy for the client's own tools: without it the log is still there.
            tokio::task::spawn_blocking(move || drop(region_files::write(&dir, &region, &lines)));
        }
        blocking(move || if read.view == View::Raw { read_raw(&opened, &read) } else { read_cooked(&opened, &read) })
            .await
    }

    async fn read_screen(&self, readable: &Readable) -> Reply {
        let Readable::Open(handle) = readable else {
            let text =
                "the session is closed, so it has no screen any more; read without view shows the end of its log";
            return Reply::error(Some(readable.name()), text);
        };
        match self.terminal.capture(handle.pane).await {
            Ok(screen) => {
                let status = format!(
                    "[{} screen {}x{} · cursor {},{}{}]",
                    handle.name,
                    screen.cols,
                    screen.size().rows,
                    screen.cursor.0 + 1,
                    screen.cursor.1 + 1,
                    if screen.alternate { " · full-screen program" } else { "" }
                );
                let reply = Reply::ok(Some(&handle.name), &status, &[], &whole(&screen.rows));
                let nonce = create::nonce(&handle.dir);
                mask(reply, nonce.as_ref().map(|nonce| nonce.as_str()))
            }
            Err(error) => Reply::error(Some(&handle.name), &format!("the screen cannot be shown: {error}")),
        }
    }

    pub(super) async fn search(&self, actor: &str, search: Search) -> Reply {
        if search.all {
            return self.search_all(actor, search).await;
        }
        let readable = match self.readable(search.session.as_deref()).await {
            Ok(readable) => readable,
            Err(reply) => return *reply,
        };
        match self.open_log(Some(actor), &readable).await {
            Ok(opened) => blocking(move || search_one(&opened, &search)).await,
            Err(reply) => *reply,
        }
    }

    /// Searches every session, closed ones too, until the hits are used up; totals go on.
    async fn search_all(&self, actor: &str, asked: Search) -> Reply {
        let (mut total, mut hits, mut lines, mut notes) = (0, Vec::new(), Vec::new(), Vec::new());
        let mut left = asked.max_hits;
        let mut nonces = Vec::new();
        for name in self.home.sessions().unwrap_or_default() {
            let Ok(readable) = self.readable(Some(&name)).await else { continue };
            let Ok(opened) = self.open_log(Some(actor), &readable).await else { continue };
            nonces.extend(opened.nonce.clone());
            notes.extend(opened.notes.iter().map(|note| format!("{name}: {note}")));
            let asked = asked.clone();
            let found = tokio::task::spawn_blocking(move || {
                let found = search(&opened.lines, &asked.pattern, 1, u64::MAX, asked.context, left);
                found.map(|found| (opened, found))
            });
            match found.await {
                Ok(Ok((opened, found))) => {
                    total += found.total;
                    left -= found.hits.len();
                    if found.total > 0 {
                        lines.push(format!("{name}: {} of {}", found.total, count(found.looked)));
                        lines.extend(opened.show_hits(&found));
                        hits.extend(found.hits.iter().map(|hit| opened.hit_field(hit)));
                    }
                }
                Ok(Err(why)) => return Reply::error(None, &why),
                Err(error) => notes.push(format!("{name} could not be searched: {error}")),
            }
        }
        let status = format!("[{total} {} in all sessions]", if total == 1 { "line matches" } else { "lines match" });
        let mut reply = Reply::ok(None, &status, &notes, &lines).with("total", total).with("hits", hits);
        for nonce in nonces {
            reply = mask(reply, Some(&nonce));
        }
        reply
    }

    pub(super) async fn regions(
        &self,
        actor: &str,
        session: Option<&str>,
        last: usize,
        status: Option<&str>,
        pattern: Option<&Pattern>,
    ) -> Reply {
        let readable = match self.readable(session).await {
            Ok(readable) => readable,
            Err(reply) => return *reply,
        };
        let mut opened = match self.open_log(Some(actor), &readable).await {
            Ok(opened) => opened,
            Err(reply) => return *reply,
        };
        // The oldest are in the file only.
        let oldest = opened.regions.first().map_or(u32::MAX, |region| region.id);
        if oldest > 1 && oldest != u32::MAX && opened.regions.len() < last.saturating_add(1) {
            let mut all: Vec<Region> = recover::read_regions(&opened.dir);
            all.retain(|region| region.id < oldest);
            all.append(&mut opened.regions);
            opened.regions = all;
        }
        let mut chosen = Vec::new();
        for region in opened.regions.iter().rev() {
            if status.is_some_and(|word| word != region_status(region)) {
                continue;
            }
            match pattern.map_or(Ok(true), |pattern| pattern.is_match(&region.label)) {
                Ok(true) => chosen.push(region),
                Ok(false) => {}
                Err(costly) => return Reply::error(Some(&opened.name), &costly.to_string()),
            }
            if chosen.len() >= last {
                break;
            }
        }
        chosen.reverse();
        let lines: Vec<String> = chosen.iter().map(|region| region_line(region, &self.place)).collect();
        let fields: Vec<Value> =
            chosen.iter().map(|region| region_fields(region, &self.place, opened.file(region.id).as_deref())).collect();
        let status = format!("[{} {} of {} regions]", opened.name, chosen.len(), opened.regions.len());
        let reply = Reply::ok(Some(&opened.name), &status, &opened.notes, &lines).with("regions", fields);
        mask(reply, opened.nonce.as_deref())
    }
}

fn count(lines: u64) -> String {
    format!("{lines} {}", if lines == 1 { "line" } else { "lines" })
}

/// Runs work that reads a log on a thread of its own.
pub(super) async fn blocking(work: impl FnOnce() -> Reply + Send + 'static) -> Reply {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Reply::error(None, &format!("the log could not be read: {error}")))
}

impl Opened {
    fn region(&self, id: u32) -> Option<Region> {
        let found = self.regions.iter().find(|region| region.id == id).cloned();
        found.or_else(|| recover::read_regions(&self.dir).into_iter().find(|region| region.id == id))
    }

    /// The region, or the reply that says which there are.
    pub(super) fn region_or_reply(&self, id: u32) -> Result<Region, Box<Reply>> {
        self.region(id).ok_or_else(|| {
            let last = self
                .regions
                .last()
                .map_or_else(|| "it has none yet".to_owned(), |region| format!("its last is {}", region.id));
            Box::new(Reply::error(
                Some(&self.name),
                &format!("there is no region {id} in {}: {last}. regions lists them", self.name),
            ))
        })
    }

    fn file(&self, id: u32) -> Option<String> {
        let path = region_files::path(&self.dir.join("regions"), id);
        path.is_file().then(|| path.display().to_string())
    }

    fn region_of(&self, line: u64) -> Option<u32> {
        let holds = |region: &&Region| (region.first_line..region.first_line + region.lines).contains(&line);
        self.regions.iter().rev().find(holds).map(|region| region.id)
    }

    fn hit_field(&self, hit: &Hit) -> Value {
        match self.region_of(hit.line) {
            Some(region) => {
                json!({ "session": self.name, "line": hit.line, "region": region, "text": spell_out(&hit.text) })
            }
            None => json!({ "session": self.name, "line": hit.line, "text": spell_out(&hit.text) }),
        }
    }

    /// The hits as lines: `12: text` where a line matches, `11- text` around it, groups apart.
    fn show_hits(&self, found: &Found) -> Vec<String> {
        let mut lines = Vec::new();
        let mut shown = 0;
        for hit in &found.hits {
            let from = hit.before.first().map_or(hit.line, |(number, _)| *number);
            if shown > 0 && from > shown + 1 {
                lines.push("...".to_owned());
            }
            lines.extend(hit.before.iter().map(|(number, text)| format!("{number}- {text}")));
            let region = self.region_of(hit.line).map_or_else(String::new, |id| format!(" [#{id}]"));
            lines.push(format!("{}: {}{region}", hit.line, hit.text));
            lines.extend(hit.after.iter().map(|(number, text)| format!("{number}- {text}")));
            shown = hit.after.last().map_or(hit.line, |(number, _)| *number);
        }
        lines
    }

    pub(super) fn ok(&self, status: &str, output: &[String]) -> Reply {
        Reply::ok(Some(&self.name), status, &self.notes, output)
    }
}

fn search_one(opened: &Opened, asked: &Search) -> Reply {
    let (mut from, mut to) = (asked.from.unwrap_or(1), asked.to.unwrap_or(u64::MAX));
    if let Some(id) = asked.region {
        let region = match opened.region_or_reply(id) {
            Ok(region) => region,
            Err(reply) => return *reply,
        };
        from = from.max(region.first_line);
        to = to.min((region.first_line + region.lines).saturating_sub(1));
    }
    let found = match search(&opened.lines, &asked.pattern, from, to, asked.context, asked.max_hits) {
        Ok(found) => found,
        Err(why) => return Reply::error(Some(&opened.name), &why),
    };
    let words = if found.total == 1 { "matches" } else { "match" };
    let more = found.total - found.hits.len() as u64;
    let more = if more > 0 {
        format!(" · {more} not shown: raise max_hits, or narrow with from, to, region")
    } else {
        String::new()
    };
    let looked = count(found.looked);
    let status = format!("[{} {} of {looked} {words}{more}]", opened.name, found.total);
    let hits: Vec<Value> = found.hits.iter().map(|hit| opened.hit_field(hit)).collect();
    let reply = opened.ok(&status, &opened.show_hits(&found)).with("total", found.total).with("hits", hits);
    mask(reply, opened.nonce.as_deref())
}

pub(super) fn read_cooked(opened: &Opened, read: &Read) -> Reply {
    let total = opened.lines.last();
    let (mut first, mut last) = (1, total);
    let mut region_status = String::new();
    if let Some(id) = read.region {
        let region = match opened.region_or_reply(id) {
            Ok(region) => region,
            Err(reply) => return *reply,
        };
        first = region.first_line;
        last = (region.first_line + region.lines).saturating_sub(1);
        region_status = format!(" #{id}");
    }
    let (range_first, range_last) = (first, last);
    if let Some(from) = read.from {
        first = first.max(from);
    }
    if let Some(to) = read.to {
        last = last.min(to);
    }
    if let Some(count) = read.last_lines {
        first = first.max((last + 1).saturating_sub(count as u64));
    }
    // Without a place to begin, the end is what is asked for.
    let keep = if read.from.is_none() && (read.region.is_none() || read.last_lines.is_some()) {
        Keep::Last
    } else {
        Keep::First
    };
    let page = match page(&opened.lines, first, last, read.max_lines, read.numbers, keep) {
        Ok(page) => page,
        Err(why) => return Reply::error(Some(&opened.name), &format!("its log cannot be read: {why}")),
    };
    let given = if page.lines.is_empty() {
        "no lines".to_owned()
    } else {
        format!("lines {}-{}", page.given.start, page.given.end - 1)
    };
    let of = if range_last >= range_first { format!(" of {range_first}-{range_last}") } else { String::new() };
    let status = format!("[{}{region_status} {given}{of}]", opened.name);
    let mut opened_notes = Vec::new();
    if page.clipped && keep == Keep::First {
        let region = read.region.map_or_else(String::new, |id| format!(" region={id}"));
        opened_notes.push(format!("more follows: read session=\"{}\"{region} from={}", opened.name, page.given.end));
    }
    let notes: Vec<String> = opened.notes.iter().cloned().chain(opened_notes).collect();
    let mut reply = Reply::ok(Some(&opened.name), &status, &notes, &page.lines);
    reply.meta.insert("clipped".into(), page.clipped.into());
    reply.meta.insert("lines".into(), page.lines.len().into());
    if let Some(id) = read.region {
        reply.meta.insert("region".into(), id.into());
    }
    if !page.lines.is_empty() {
        reply.meta.insert("first_line".into(), page.given.start.into());
        reply.meta.insert("last_line".into(), (page.given.end - 1).into());
    }
    mask(reply, opened.nonce.as_deref())
}
