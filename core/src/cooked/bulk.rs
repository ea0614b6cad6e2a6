//! Text in bulk.

/// Bytes of printable ASCII at the beginning.
#[inline]
pub(super) fn printable(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| !(0x20..=0x7e).contains(byte)).unwrap_or(bytes.len())
}
