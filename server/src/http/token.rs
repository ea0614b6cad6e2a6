//! The bearer token of the port: a file that only its owner can read.

use std::io::{self, Write as _};
use std::path::Path;

use subtle::ConstantTimeEq as _;

use crate::store::files;

/// Random bytes in a token: as many as a key that cannot be guessed.
const BYTES: usize = 32;

/// The secret that a request on the port has to bring.
#[derive(Clone)]
pub struct Token(String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

impl Token {
    /// Reads the token, or draws one and writes it where there is none. Of two that draw at once, one is written, and
    /// both have it.
    ///
    /// # Errors
    /// Where the file can be reached by others, is a link, holds no token, or cannot be made.
    pub fn load_or_create(path: &Path) -> io::Result<Self> {
        let fresh = path.with_file_name(format!(".token.{}.tmp", std::process::id()));
        if std::fs::symlink_metadata(path).is_err() {
            let mut bytes = [0; BYTES];
            getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
            drop(std::fs::remove_file(&fresh));
            files::create_new(&fresh)?.write_all(format!("{}\n", hex(&bytes)).as_bytes())?;
            // A link and not a rename: it never takes the place of a file, and a reader never sees half of one.
            let linked = std::fs::hard_link(&fresh, path);
            drop(std::fs::remove_file(&fresh));
            match linked {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(files::at(path, &error)),
                _ => {}
            }
        }
        let text = files::read(path).map_err(|error| {
            io::Error::new(error.kind(), format!("{error}. Remove {}, and another is drawn", path.display()))
        })?;
        let text = String::from_utf8_lossy(&text).trim().to_owned();
        if text.len() < BYTES || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            let path = path.display();
            let why = format!("{path} holds no token of {BYTES} characters or more; remove it, and one is drawn");
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        Ok(Self(text))
    }

    /// The token's text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether these bytes are the token, in a time that does not depend on where they differ. Their length is no
    /// secret.
    #[must_use]
    pub fn is(&self, given: &[u8]) -> bool {
        self.0.as_bytes().ct_eq(given).into()
    }
}

/// Bytes as lower-case hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn it_is_drawn_once_for_its_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        let token = Token::load_or_create(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
        assert_eq!(token.text().len(), 2 * BYTES);
        assert_eq!(Token::load_or_create(&path).unwrap().text(), token.text());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        assert!(token.is(token.text().as_bytes()));
        for other in [
            "",
            "x",
            &"0".repeat(2 * BYTES),
            &token.text().replace('0', "1").replacen(char::is_alphanumeric, "", 50),
            &format!("{}0", token.text()),
        ] {
            assert!(!token.is(other.as_bytes()), "{other:?}");
        }
        assert!(!format!("{token:?}").contains(token.text()));
    }

    #[test]
    fn a_file_that_others_can_read_or_that_holds_nothing_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        drop(Token::load_or_create(&path).unwrap());
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        assert!(Token::load_or_create(&path).unwrap_err().to_string().contains("0640"));
        let link = dir.path().join("link");
        symlink(dir.path().join("victim"), &link).unwrap();
        assert!(Token::load_or_create(&link).is_err());
        assert!(!dir.path().join("victim").exists());
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        fs::write(&path, "\n").unwrap();
        assert!(Token::load_or_create(&path).unwrap_err().to_string().contains("holds no token"));
    }
}
