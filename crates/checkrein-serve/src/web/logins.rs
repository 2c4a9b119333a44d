//! Logins of the page: one-time tokens, and the sessions of browsers.
//!
//! A browser proves itself with two secrets: a cookie, and a page token that scripts of the page send. A cookie alone is not
//! enough, because browsers send it to every port of the address. The file keeps only hashes, so reading it gives no access.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use checkrein::internal::{regular_file, sha256_hex};
use serde::{Deserialize, Serialize};

/// Time for which a one-time token is valid.
pub(super) const TOKEN_LIFE: Duration = Duration::from_secs(120);

/// Time for which a browser stays logged in.
const SESSION_LIFE: Duration = Duration::from_secs(12 * 60 * 60);

/// Maximum number of browsers. The oldest one is logged out.
const MAX_SESSIONS: usize = 16;

/// Maximum number of unused tokens.
const MAX_TOKENS: usize = 8;

/// Name of the file in the runtime directory.
const FILE: &str = "page.sessions";

/// Letters of a code: no letters or digits that look alike.
const LETTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/// A login that can be used once.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Login {
    /// Address of the page without secrets.
    pub address: String,
    /// Address with the token in its fragment, which browsers do not send.
    pub url: String,
    /// Short code, for a page that was opened at the bare address. The token and the code are used up together.
    pub code: String,
    /// Time for which the token is valid, in seconds.
    pub seconds: u64,
}

#[derive(Debug)]
struct Unused {
    token: String,
    code: String,
    until: Instant,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Session {
    cookie: String,
    page: String,
    until: u64,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Stored {
    port: u16,
    sessions: Vec<Session>,
}

/// Secrets of a new session.
pub(super) struct NewSession {
    pub(super) cookie: String,
    pub(super) page: String,
    pub(super) life: Duration,
}

/// All logins and sessions.
#[derive(Debug)]
pub(super) struct Logins {
    file: PathBuf,
    port: u16,
    unused: Vec<Unused>,
    sessions: Vec<Session>,
}

/// The system has no random numbers.
#[derive(Debug, thiserror::Error)]
#[error("the system has no random numbers")]
pub struct NoRandom;

fn random<const N: usize>() -> Result<[u8; N], NoRandom> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| NoRandom)?;
    Ok(bytes)
}

fn secret() -> Result<String, NoRandom> {
    let bytes: [u8; 32] = random()?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn code() -> Result<String, NoRandom> {
    let bytes: [u8; 8] = random()?;
    let letters: String = bytes.iter().map(|byte| char::from(LETTERS[usize::from(*byte % 32)])).collect();
    Ok(format!("{}-{}", &letters[..4], &letters[4..]))
}

fn hash(text: &str) -> String {
    sha256_hex(text.as_bytes())
}

fn unix_time() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

impl Logins {
    /// Reads the sessions of an earlier run. Sessions of another port are dropped: another program can have the port now.
    pub(super) fn open(runtime_dir: &Path, port: u16) -> Self {
        let file = runtime_dir.join(FILE);
        let text = regular_file::open_no_link(&file).ok().and_then(|file| std::io::read_to_string(file).ok());
        let stored: Stored = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        let mut sessions = if stored.port == port { stored.sessions } else { Vec::new() };
        sessions.truncate(MAX_SESSIONS);
        Self { file, port, unused: Vec::new(), sessions }
    }

    /// Creates a login.
    pub(super) fn create(&mut self) -> Result<Login, NoRandom> {
        let (token, code) = (secret()?, code()?);
        self.drop_old();
        if self.unused.len() >= MAX_TOKENS {
            self.unused.remove(0);
        }
        self.unused.push(Unused { token: hash(&token), code: hash(&code), until: Instant::now() + TOKEN_LIFE });
        let address = format!("http://127.0.0.1:{}/", self.port);
        Ok(Login { url: format!("{address}#{token}"), address, code, seconds: TOKEN_LIFE.as_secs() })
    }

    /// Exchanges a token or code for a session. `None`: it is wrong, used or too old.
    pub(super) fn exchange(&mut self, given: &str) -> Result<Option<NewSession>, NoRandom> {
        self.drop_old();
        let given = given.trim();
        let typed: String = given.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_uppercase();
        let typed = if typed.len() == 8 { format!("{}-{}", &typed[..4], &typed[4..]) } else { String::new() };
        let (token, code) = (hash(given), hash(&typed));
        let found = self.unused.iter().position(|unused| unused.token == token || unused.code == code);
        let Some(found) = found else { return Ok(None) };
        let new = NewSession { cookie: secret()?, page: secret()?, life: SESSION_LIFE };
        self.unused.remove(found);
        if self.sessions.len() >= MAX_SESSIONS {
            self.sessions.remove(0);
        }
        let until = unix_time() + SESSION_LIFE.as_secs();
        self.sessions.push(Session { cookie: hash(&new.cookie), page: hash(&new.page), until });
        self.save();
        Ok(Some(new))
    }

    /// Returns `true` if both secrets belong to one session.
    pub(super) fn is_valid(&self, cookie: &str, page: &str) -> bool {
        let (cookie, page, now) = (hash(cookie), hash(page), unix_time());
        let limit = now + SESSION_LIFE.as_secs();
        // A clock that was moved back must not extend a session.
        self.sessions.iter().any(|session| {
            session.cookie == cookie && session.page == page && session.until > now && session.until <= limit
        })
    }

    /// Ends the session of a cookie.
    pub(super) fn end(&mut self, cookie: &str) {
        let cookie = hash(cookie);
        self.sessions.retain(|session| session.cookie != cookie);
        self.save();
    }

    fn drop_old(&mut self) {
        let (now, unix) = (Instant::now(), unix_time());
        self.unused.retain(|unused| unused.until > now);
        self.sessions.retain(|session| session.until > unix);
    }

    /// Writes the sessions. Without the file, a restart logs all browsers out.
    fn save(&self) {
        let stored = Stored { port: self.port, sessions: self.sessions.clone() };
        if let Ok(text) = serde_json::to_string(&stored) {
            let _ = super::write_private(&self.file, &text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logins() -> (tempfile::TempDir, Logins) {
        let dir = tempfile::tempdir().unwrap();
        let logins = Logins::open(dir.path(), 4000);
        (dir, logins)
    }

    #[test]
    fn token_and_code_are_used_up_together() {
        let (dir, mut logins) = logins();
        let login = logins.create().unwrap();
        assert_eq!((login.code.len(), login.address.as_str()), (9, "http://127.0.0.1:4000/"));
        let session = logins.exchange(&login.code.to_lowercase().replace('-', " ")).unwrap().unwrap();
        let token = login.url.split_once('#').unwrap().1;
        for used in [token, &login.code] {
            assert!(logins.exchange(used).unwrap().is_none());
        }
        assert!(logins.is_valid(&session.cookie, &session.page));
        let other = logins.create().unwrap();
        let other = logins.exchange(other.url.split_once('#').unwrap().1).unwrap().unwrap();
        for (cookie, page) in [
            (&session.cookie, &other.page),
            (&session.cookie, &session.cookie),
            (&String::new(), &String::new()),
            (&session.page, &session.cookie),
        ] {
            assert!(!logins.is_valid(cookie, page));
        }

        // A restart keeps sessions of the same port. The file has no secret.
        assert!(Logins::open(dir.path(), 4000).is_valid(&session.cookie, &session.page));
        assert!(!Logins::open(dir.path(), 4001).is_valid(&session.cookie, &session.page));
        let text = std::fs::read_to_string(dir.path().join(FILE)).unwrap();
        for secret in [&session.cookie, &session.page] {
            assert!(!text.contains(secret.as_str()));
        }
        logins.end(&session.cookie);
        assert!(!logins.is_valid(&session.cookie, &session.page));
        assert!(!Logins::open(dir.path(), 4000).is_valid(&session.cookie, &session.page));
    }

    #[test]
    fn guesses_of_others_prevent_no_login() {
        let (_dir, mut logins) = logins();
        let login = logins.create().unwrap();
        for _ in 0..100 {
            assert!(logins.exchange("AAAA-AAAA").unwrap().is_none());
        }
        assert!(logins.exchange(&login.code).unwrap().is_some());
    }

    #[test]
    fn tokens_and_sessions_end() {
        let (_dir, mut logins) = logins();
        let login = logins.create().unwrap();
        logins.unused[0].until = Instant::now();
        assert!(logins.exchange(&login.code).unwrap().is_none());
        let login = logins.create().unwrap();
        let session = logins.exchange(&login.code).unwrap().unwrap();
        logins.sessions[0].until = unix_time();
        assert!(!logins.is_valid(&session.cookie, &session.page));
        logins.sessions[0].until = u64::MAX;
        assert!(!logins.is_valid(&session.cookie, &session.page));
    }
}
