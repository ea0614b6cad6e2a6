//! A server that cannot work still answers: a client shows a process that just dies as "connection closed", and the
//! person never learns why.

use std::time::Duration;

use dtmcp_core::text::visible::spell_out;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader};

/// How long a client that only asked what there is may take to come back with its real first request.
const SECOND_REQUEST: Duration = Duration::from_secs(1);

/// The longest first request, in bytes; a client's introduction takes a few hundred.
const LINE_MAX: u64 = 1024 * 1024;

/// The code of JSON-RPC's range for a server's own errors.
const CODE: i64 = -32000;

/// Answers the client's first request with `why`, and returns. A probe (`ping`, `server/discover`) is answered too, but
/// a client may fall back to `initialize` after it, and should then read the reason once more.
pub(super) async fn answer<R, W>(read: R, mut write: W, why: &str)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    // A path in it may hold anything.
    let why = spell_out(why);
    let mut read = BufReader::new(read);
    let mut probed = false;
    loop {
        let next = request(&mut read);
        let request =
            if probed { tokio::time::timeout(SECOND_REQUEST, next).await.unwrap_or(None) } else { next.await };
        let Some((id, method)) = request else { return };
        let answer = json!({"jsonrpc": "2.0", "id": id, "error": {"code": CODE, "message": why}});
        let sent = async {
            write.write_all(format!("{answer}\n").as_bytes()).await?;
            write.flush().await
        };
        if sent.await.is_err() || !matches!(method.as_str(), "ping" | "server/discover") {
            return;
        }
        probed = true;
    }
}

/// The next request's id and method; none when the client is gone.
async fn request(read: &mut (impl AsyncBufReadExt + Unpin)) -> Option<(Value, String)> {
    let mut line = Vec::new();
    loop {
        line.clear();
        let taken = (&mut *read).take(LINE_MAX).read_until(b'\n', &mut line).await.ok()?;
        if taken == 0 {
            return None;
        }
        let Ok(value) = serde_json::from_slice::<Value>(&line) else { continue };
        if let (Some(id), Some(method)) = (value.get("id"), value.get("method").and_then(Value::as_str)) {
            return Some((id.clone(), method.to_owned()));
        }
    }
}
