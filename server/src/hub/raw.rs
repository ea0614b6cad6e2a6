//! `read view="raw"`: the bytes of the stream, spelled out.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use dtmcp_core::call::Read;
use dtmcp_core::lines::Lines as _;
use dtmcp_core::region::{Kind, Region};
use dtmcp_core::reply::Reply;
use dtmcp_core::text::visible::spell_out_bytes;

use super::looks::Opened;
use crate::driver::render::mask;
use crate::store::files;

/// Bytes of the raw stream that one `read` shows: spelled out, they stay under what clients pass on whole.
const RAW_BYTES: u64 = 6_000;

/// Bytes of the raw stream looked through for its last lines.
const RAW_REACH: u64 = 256 * 1024;

/// Bytes that are looked through at once for the beginning of a line.
const PIECE: usize = 64 * 1024;

/// Which bytes are shown.
struct Bounds {
    from: u64,
    to: u64,
    /// Whether more were asked for, of which these are the end, or else the beginning.
    clipped: Option<bool>,
}

pub(super) fn read_raw(opened: &Opened, read: &Read) -> Reply {
    let bounds = match raw_bounds(opened, read) {
        Ok(bounds) => bounds,
        Err(reply) => return *reply,
    };
    let bytes = match raw_bytes(&opened.dir, bounds.from, bounds.to) {
        Ok(bytes) => bytes,
        Err(error) => return Reply::error(Some(&opened.name), &format!("raw.log cannot be read: {error}")),
    };
    let (from, to, clipped) = (bounds.from, bounds.to, bounds.clipped.is_some());
    let lines: Vec<String> = bytes.split_inclusive(|byte| *byte == b'\n').map(spell_raw).collect();
    let part = bounds
        .clipped
        .map_or("", |end| if end { ", the end of what was asked" } else { ", the beginning of what was asked" });
    let status = format!("[{} raw bytes {from}-{to}{part}]", opened.name);
    let mut reply = opened.ok(&status, &lines);
    reply.meta.insert("clipped".into(), clipped.into());
    mask(reply, opened.nonce.as_deref())
}

/// A line of the raw stream, its line break spelled out too.
fn spell_raw(line: &[u8]) -> String {
    let (body, end) = line.strip_suffix(b"\n").map_or((line, ""), |body| (body, "\\n"));
    format!("{}{end}", spell_out_bytes(body).replace('\t', "\\t"))
}

/// Which bytes a raw view shows, and whether more were asked for.
fn raw_bounds(opened: &Opened, read: &Read) -> Result<Bounds, Box<Reply>> {
    let length = std::fs::metadata(opened.dir.join("raw.log")).map_or(0, |meta| meta.len());
    let (mut from, mut to) = match read.region {
        Some(id) => {
            let region = opened.region_or_reply(id)?;
            (region.raw_start, region.raw_end.unwrap_or(length).min(length))
        }
        None => (0, length),
    };
    let unread = |error| Box::new(Reply::error(Some(&opened.name), &format!("raw.log cannot be read: {error}")));
    if let Some(line) = read.from {
        from = from.max(begins(opened, line, length).map_err(unread)?);
    }
    if let Some(line) = read.to {
        to = to.min(begins(opened, line.saturating_add(1), length).map_err(unread)?);
    }
    let to = to.max(from);
    if let Some(count) = read.last_lines {
        let start = from.max(to.saturating_sub(RAW_REACH));
        if let Ok(bytes) = raw_bytes(&opened.dir, start, to) {
            let skipped = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
            let at = memchr::memrchr_iter(b'\n', skipped).nth(count.saturating_sub(1));
            from = at.map_or(start, |at| start + at as u64 + 1);
        }
    }
    if to - from <= RAW_BYTES {
        return Ok(Bounds { from, to, clipped: None });
    }
    // Whoever says where to begin reads on from there.
    Ok(if read.from.is_some() && read.last_lines.is_none() {
        Bounds { from, to: from + RAW_BYTES, clipped: Some(false) }
    } else {
        Bounds { from: to - RAW_BYTES, to, clipped: Some(true) }
    })
}

/// The offset at which a line of the session begins: so many line breaks behind the beginning of the region that it is
/// in, or follows. Where a program moves the cursor up that is near the line, not at it: no other offsets are kept.
fn begins(opened: &Opened, line: u64, length: u64) -> io::Result<u64> {
    if line > opened.lines.last() {
        return Ok(length);
    }
    let known = opened.regions.iter().map(begun).filter(|(begun, _)| *begun <= line).max();
    let (mut at, mut offset) = known.unwrap_or((1, 0));
    let file = files::open(&opened.dir.join("raw.log"))?;
    let mut piece = vec![0; PIECE];
    while at < line {
        let read = read_at(&file, &mut piece, offset)?;
        let Some(bytes) = piece.get(..read).filter(|bytes| !bytes.is_empty()) else { return Ok(length) };
        let wanted = usize::try_from(line - at).unwrap_or(usize::MAX);
        let mut breaks = memchr::memchr_iter(b'\n', bytes);
        if let Some(last) = breaks.nth(wanted - 1) {
            return Ok(offset + last as u64 + 1);
        }
        at += memchr::memchr_iter(b'\n', bytes).count() as u64;
        offset += bytes.len() as u64;
    }
    Ok(offset.min(length))
}

/// The line that the cursor was on where a region begins in the stream, and where that is. A line typed to a program is
/// still to be echoed there.
fn begun(region: &Region) -> (u64, u64) {
    let echo = u64::from(region.kind == Kind::Input);
    (region.first_line.saturating_sub(echo), region.raw_start)
}

fn read_at(file: &File, piece: &mut [u8], offset: u64) -> io::Result<usize> {
    loop {
        match file.read_at(piece, offset) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

fn raw_bytes(dir: &Path, from: u64, to: u64) -> io::Result<Vec<u8>> {
    let file = files::open(&dir.join("raw.log"))?;
    let mut bytes = vec![0; usize::try_from(to.saturating_sub(from)).unwrap_or(0)];
    file.read_exact_at(&mut bytes, from)?;
    Ok(bytes)
}
