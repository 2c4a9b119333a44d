//! Signatures as the Standard Webhooks specification has them: HMAC-SHA256 over id, timestamp and body.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use hmac::{Hmac, KeyInit as _, Mac as _};
use hyper::HeaderMap;
use sha2::Sha256;

pub(super) const ID: &str = "webhook-id";
pub(super) const TIMESTAMP: &str = "webhook-timestamp";
pub(super) const SIGNATURE: &str = "webhook-signature";

/// How far the clocks of both ends may be apart, in seconds.
const TOLERANCE: u64 = 5 * 60;

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Names calls. No two calls have the same name, whichever process makes them.
pub(super) struct Ids {
    client: u64,
    next: AtomicU64,
}

impl Ids {
    pub(super) fn new() -> Self {
        // Each new state has keys of its own, which come from the system's randomness.
        let random = || RandomState::new().hash_one(0_u8);
        Self { client: random(), next: AtomicU64::new(random()) }
    }

    pub(super) fn next(&self) -> String {
        format!("msg_{:016x}{:016x}", self.client, self.next.fetch_add(1, Ordering::Relaxed))
    }
}

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// A key to sign with.
pub(super) struct Key(Hmac<Sha256>);

impl Key {
    /// From a secret: text, or after `whsec_` base64.
    ///
    /// # Errors
    /// What is wrong with it, without a word of it.
    pub(super) fn new(secret: &str) -> Result<Self, &'static str> {
        let bytes = match secret.strip_prefix("whsec_") {
            Some(encoded) => BASE64.decode(encoded).map_err(|_| "the secret is not base64 after `whsec_`")?,
            None => secret.as_bytes().to_vec(),
        };
        if bytes.is_empty() {
            return Err("the secret is empty");
        }
        Hmac::new_from_slice(&bytes).map(Self).map_err(|_| "the secret cannot be used as a key")
    }

    /// The signature of a body in pieces.
    fn sign<B: AsRef<[u8]>>(&self, id: &str, timestamp: &str, body: &[B]) -> Vec<u8> {
        self.mac(id, timestamp, body).finalize().into_bytes().to_vec()
    }

    fn mac<B: AsRef<[u8]>>(&self, id: &str, timestamp: &str, body: &[B]) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        for part in [id, ".", timestamp, "."] {
            mac.update(part.as_bytes());
        }
        for piece in body {
            mac.update(piece.as_ref());
        }
        mac
    }

    /// Checks an answer. It must be for the request that was `sent`, and must not be that request itself: who can't sign
    /// could send back what we have signed.
    ///
    /// # Errors
    /// What is wrong.
    pub(super) fn verify(&self, sent: &Sent, headers: &HeaderMap, body: &[u8], now: u64) -> Result<(), &'static str> {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let (Some(id), Some(timestamp), Some(signatures)) = (text(ID), text(TIMESTAMP), text(SIGNATURE)) else {
            return Err("the answer is not signed");
        };
        if id != sent.id {
            return Err("the answer is signed for another request");
        }
        if !timestamp.parse::<u64>().is_ok_and(|at| at.abs_diff(now) <= TOLERANCE) {
            return Err("the answer's signature is too old or from the future");
        }
        let is_right = |signature: &str| {
            let Some(Ok(bytes)) = signature.strip_prefix("v1,").map(|encoded| BASE64.decode(encoded)) else {
                return false;
            };
            // The comparison takes as long for a wrong one as for a right one.
            sent.signature.as_ref() != Some(&bytes) && self.mac(id, timestamp, &[body]).verify_slice(&bytes).is_ok()
        };
        // There may be several, while secrets change.
        let is_right = signatures.split(' ').any(is_right);
        if is_right { Ok(()) } else { Err("the answer's signature is wrong") }
    }
}

/// What tells one request from others.
pub(super) struct Sent {
    id: String,
    timestamp: String,
    signature: Option<Vec<u8>>,
}

impl Sent {
    pub(super) fn new<B: AsRef<[u8]>>(id: String, key: Option<&Key>, body: &[B]) -> Self {
        let timestamp = now().to_string();
        let signature = key.map(|key| key.sign(&id, &timestamp, body));
        Self { id, timestamp, signature }
    }

    /// The headers that carry it.
    pub(super) fn headers(&self) -> impl Iterator<Item = (&'static str, String)> {
        let signature = self.signature.as_ref().map(|bytes| (SIGNATURE, header(bytes)));
        [(ID, self.id.clone()), (TIMESTAMP, self.timestamp.clone())].into_iter().chain(signature)
    }
}

fn header(signature: &[u8]) -> String {
    format!("v1,{}", BASE64.encode(signature))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    fn headers(id: &str, timestamp: &str, signature: &str) -> HeaderMap {
        [(ID, id), (TIMESTAMP, timestamp), (SIGNATURE, signature)]
            .into_iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect()
    }

    #[test]
    fn signs_the_example_of_the_specification() {
        let key = Key::new(SECRET).unwrap();
        let signed = key.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", &[r#"{"test":"#, r#" 2432232314}"#]);
        assert_eq!(header(&signed), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn answers_must_be_signed_for_their_request() {
        let key = Key::new("a secret").unwrap();
        let sent = Sent::new("msg_1".to_owned(), Some(&key), &["{\"the\":\"event\"}"]);
        let (at, body) = (now(), b"{}".as_slice());
        let sign = |timestamp: u64| header(&key.sign("msg_1", &timestamp.to_string(), &[body]));
        let verify = |id, timestamp: u64, signature: &str, body| {
            key.verify(&sent, &headers(id, &timestamp.to_string(), signature), body, at)
        };
        assert_eq!(verify("msg_1", at, &sign(at), body), Ok(()));
        assert_eq!(verify("msg_1", at - 290, &format!("v1a,x v1,bm8= {}", sign(at - 290)), body), Ok(()));
        let other = header(&key.sign("msg_2", &at.to_string(), &[body]));
        for (id, timestamp, signature, body) in [
            ("msg_1", at, "v1,", body),
            ("msg_1", at, "", body),
            ("msg_1", at, &sign(at)[3..], body),
            ("msg_1", at, &sign(at - 1), body),
            ("msg_1", at, &sign(at), b"{ }"),
            ("msg_1", at - 310, &sign(at - 310), body),
            ("msg_1", at + 310, &sign(at + 310), body),
            ("msg_2", at, &other, body),
        ] {
            assert!(verify(id, timestamp, signature, body).is_err(), "{id} {timestamp} {signature}");
        }
        assert_eq!(key.verify(&sent, &HeaderMap::new(), body, at), Err("the answer is not signed"));
    }

    #[test]
    fn what_was_sent_is_no_answer_to_itself() {
        let key = Key::new(SECRET).unwrap();
        let sent = Sent::new("msg_1".to_owned(), Some(&key), &["{}"]);
        let signature = header(sent.signature.as_ref().unwrap());
        // Without its padding it is the same signature in another spelling.
        for echo in [signature.as_str(), signature.trim_end_matches('=')] {
            assert!(key.verify(&sent, &headers("msg_1", &sent.timestamp, echo), b"{}", now()).is_err());
        }
    }

    #[test]
    fn secrets_that_cannot_be_used() {
        for secret in ["", "whsec_", "whsec_***"] {
            assert!(Key::new(secret).is_err(), "{secret}");
        }
    }

    #[test]
    fn no_two_calls_have_the_same_id() {
        let (one, other) = (Ids::new(), Ids::new());
        let ids: std::collections::HashSet<_> = (0..100).flat_map(|_| [one.next(), other.next()]).collect();
        assert_eq!(ids.len(), 200);
    }
}
