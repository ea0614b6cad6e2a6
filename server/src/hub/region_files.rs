//! `regions/NNNN.txt`: the output of the most recently used regions, each in a file of its own, for clients that
//! prefer their own tools. Any other region is a range of lines of `session.txt`.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dtmcp_core::region::Region;
use tokio::sync::mpsc;

use super::save::fill;
use crate::store::files;
use crate::store::lines::LogLines;

/// How many files are kept; the reference's number.
pub const KEPT: usize = 8;

/// How long a region's file waits for those of the commands right behind it.
const BURST: Duration = Duration::from_millis(20);

/// Files waiting to be written; what comes beyond is left out, and written when its region is read.
const QUEUE: usize = 64;

/// Writes region files in the background: a command's reply does not wait for them.
#[derive(Debug, Clone)]
pub struct RegionFiles {
    queue: mpsc::Sender<(Region, LogLines)>,
    dir: PathBuf,
}

impl RegionFiles {
    /// Starts the writer for a session's directory.
    #[must_use]
    pub fn start(session_dir: &Path) -> Self {
        let dir = session_dir.join("regions");
        let (queue, mut waiting) = mpsc::channel::<(Region, LogLines)>(QUEUE);
        let writer = Self { queue, dir: dir.clone() };
        tokio::spawn(async move {
            let mut kept = listed(&dir);
            while let Some(first) = waiting.recv().await {
                // Commands come in bursts, and only the last few are kept; and whoever asked for one reads its reply
                // first.
                tokio::time::sleep(BURST).await;
                let mut newest = VecDeque::from([first]);
                while let Ok(next) = waiting.try_recv() {
                    newest.retain(|(region, _)| region.id != next.0.id);
                    newest.push_back(next);
                    newest.drain(..newest.len().saturating_sub(KEPT));
                }
                for (region, lines) in newest {
                    keep(&dir, &mut kept, region, lines).await;
                }
            }
        });
        writer
    }

    /// Has a region's file written.
    pub fn write(&self, region: Region, lines: LogLines) {
        // A full queue leaves a file out; reading the region writes it.
        drop(self.queue.try_send((region, lines)));
    }

    /// Where a region's file is, if it is there.
    #[must_use]
    pub fn file(&self, id: u32) -> Option<PathBuf> {
        let path = path(&self.dir, id);
        fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file()).then_some(path)
    }
}

/// Writes one file, and drops the one used longest ago.
async fn keep(dir: &Path, kept: &mut VecDeque<u32>, region: Region, lines: LogLines) {
    let (id, target) = (region.id, dir.to_owned());
    let written = tokio::task::spawn_blocking(move || write(&target, &region, &lines)).await;
    if let Ok(Err(error)) = written {
        tracing::warn!("{}: {error}", path(dir, id).display());
        return;
    }
    kept.retain(|other| *other != id);
    kept.push_back(id);
    while kept.len() > KEPT {
        if let Some(old) = kept.pop_front() {
            // It may be gone already; it is a copy.
            drop(fs::remove_file(path(dir, old)));
        }
    }
}

/// Where a region's file stands.
#[must_use]
pub fn path(dir: &Path, id: u32) -> PathBuf {
    dir.join(format!("{id:04}.txt"))
}

/// Writes one region's file, by rename: a link that someone put there is replaced, never followed.
///
/// # Errors
/// Where it cannot be written.
pub fn write(dir: &Path, region: &Region, lines: &LogLines) -> io::Result<()> {
    files::make_dir(dir)?;
    let temporary = dir.join(format!(".{:04}.tmp", region.id));
    // One that an earlier server left half-written.
    drop(fs::remove_file(&temporary));
    let file = files::create_new(&temporary)?;
    fill(&file, lines, region.first_line, region.lines)?;
    fs::rename(&temporary, path(dir, region.id))
}

/// The regions that have files, the least recently written first.
fn listed(dir: &Path) -> VecDeque<u32> {
    let mut found: Vec<_> = fs::read_dir(dir)
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let id = entry.file_name().to_str()?.strip_suffix(".txt")?.parse().ok()?;
            Some((entry.metadata().ok()?.modified().ok()?, id))
        })
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, id)| id).collect()
}
