//! A connection that is given up once its far end takes nothing.
//!
//! What a client does not read is held for it: the rest of an answer, a stream's next event, the connection's place among
//! those there may be. A reader that has stopped for good would hold them as long as it likes.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// How long nothing at all may be taken of what is to be written. A client that reads slowly takes something all the time,
/// and the kernel takes some 200 kB for one that is busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// A stream whose writes fail once one has waited for [`PATIENCE`].
#[derive(Debug)]
pub(super) struct Unstalled<S> {
    stream: S,
    /// Runs while a write waits.
    waits: Option<Pin<Box<Sleep>>>,
}

impl<S> Unstalled<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, waits: None }
    }

    fn judge<T>(&mut self, cx: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.waits = None;
            return polled;
        }
        let waits = self.waits.get_or_insert_with(|| Box::pin(tokio::time::sleep(PATIENCE)));
        if waits.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        tracing::warn!("a client that took nothing of its answer for {} s was given up", PATIENCE.as_secs());
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Unstalled<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Unstalled<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.judge(cx, polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.judge(cx, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::time::{Instant, sleep};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_takes_nothing_is_given_up() {
        let (near, _far) = tokio::io::duplex(64);
        let begun = Instant::now();
        let written = Unstalled::new(near).write_all(&[0; 65]).await;
        assert_eq!(written.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(begun.elapsed().as_secs(), PATIENCE.as_secs());
    }

    #[tokio::test(start_paused = true)]
    async fn who_takes_a_little_now_and_then_is_not() {
        let (near, mut far) = tokio::io::duplex(64);
        let reads = tokio::spawn(async move {
            let mut taken = 0;
            while taken < 1024 {
                sleep(PATIENCE.mul_f64(0.9)).await;
                taken += far.read(&mut [0; 8]).await.unwrap();
            }
        });
        Unstalled::new(near).write_all(&[0; 1024]).await.unwrap();
        reads.await.unwrap();
    }
}
