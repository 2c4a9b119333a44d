//! Signatures of the Standard Webhooks specification: HMAC-SHA256 over id, timestamp and body.
//!
//! Requests are signed and replies are verified with the same secret. Errors never contain the secret.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use hmac::{Hmac, KeyInit as _, Mac as _};
use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue, InvalidHeaderValue};
use sha2::Sha256;

use crate::hash::{hex, sha256};

pub(super) const ID: HeaderName = HeaderName::from_static("webhook-id");
pub(super) const TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
pub(super) const SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// Prefix of a secret in base64.
const BASE64_PREFIX: &str = "whsec_";

/// Maximum difference of the clocks of both ends, in seconds.
const TOLERANCE: u64 = 5 * 60;

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Generator of request ids, which are unique across processes.
pub(super) struct Ids {
    /// Id without the number of the request.
    client: Id,
    next: AtomicU64,
}

/// Request id: `msg_`, a random number of the client and the number of the request, in hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Id([u8; 36]);

impl Id {
    /// Id of a message: the same for the same name.
    pub(super) fn named(name: &str) -> Self {
        let mut id = Self([b'_'; 36]);
        id.0[..3].copy_from_slice(b"msg");
        for (place, digit) in id.0[4..].iter_mut().zip(hex(&sha256(name.as_bytes())).bytes()) {
            *place = digit;
        }
        id
    }
}

impl Ids {
    pub(super) fn new() -> Self {
        // Each `RandomState` has new keys from the system's random numbers.
        let random = || RandomState::new().hash_one(0_u8);
        let mut client = Id([b'_'; 36]);
        client.0[..3].copy_from_slice(b"msg");
        write_hex(&mut client.0[4..20], random());
        Self { client, next: AtomicU64::new(random()) }
    }

    pub(super) fn next(&self) -> Id {
        let mut id = self.client;
        write_hex(&mut id.0[20..], self.next.fetch_add(1, Ordering::Relaxed));
        id
    }
}

/// Fills a buffer with the last hexadecimal digits of a number. `format!` takes ten times as long.
fn write_hex(buffer: &mut [u8], mut number: u64) {
    for digit in buffer.iter_mut().rev() {
        *digit = b"0123456789abcdef"[(number & 0xF) as usize];
        number >>= 4;
    }
}

/// Returns the seconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Returns a secret without the prefix that marks base64.
pub(super) fn bare(secret: &str) -> &str {
    secret.strip_prefix(BASE64_PREFIX).unwrap_or(secret)
}

type Signature = [u8; 32];

/// Key for signatures.
pub(super) struct Key(Hmac<Sha256>);

impl Key {
    /// Creates a key from a secret: text, or `whsec_` and base64.
    ///
    /// # Errors
    /// The problem, without the secret.
    pub(super) fn new(secret: &str) -> Result<Self, &'static str> {
        let bytes = match secret.strip_prefix(BASE64_PREFIX) {
            Some(encoded) => BASE64.decode(encoded).map_err(|_| "`secret` is not valid base64 after `whsec_`")?,
            None => secret.as_bytes().to_vec(),
        };
        if bytes.is_empty() {
            return Err("`secret` is empty");
        }
        Hmac::new_from_slice(&bytes).map(Self).map_err(|_| "`secret` cannot be used as a key")
    }

    /// Returns the signature of a body in pieces.
    fn sign<B: AsRef<[u8]>>(&self, id: &[u8], timestamp: &str, body: &[B]) -> Signature {
        self.mac(id, timestamp, body).finalize().into_bytes().into()
    }

    fn mac<B: AsRef<[u8]>>(&self, id: &[u8], timestamp: &str, body: &[B]) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        for part in [id, b".", timestamp.as_bytes(), b"."] {
            mac.update(part);
        }
        for piece in body {
            mac.update(piece.as_ref());
        }
        mac
    }

    /// Verifies a response to the request that was `sent`. The signature of the request itself is rejected: an endpoint
    /// without the secret could echo it.
    ///
    /// # Errors
    /// The reason for the rejection.
    pub(super) fn verify(
        &self,
        sent: &RequestId,
        headers: &HeaderMap,
        body: &[u8],
        now: u64,
    ) -> Result<(), &'static str> {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let signed = Signed { id: text(ID), timestamp: text(TIMESTAMP), signatures: text(SIGNATURE) };
        let is_complete = signed.timestamp.is_some() && signed.signatures.is_some();
        if is_complete && signed.id.is_some_and(|id| id.as_bytes() != sent.id.0) {
            return Err("it is signed for another request");
        }
        self.verify_signed(&signed, sent.signature.as_ref(), body, now)
    }

    /// Verifies the headers of a message. The signature `own` is rejected.
    ///
    /// # Errors
    /// The reason for the rejection.
    fn verify_signed(
        &self,
        signed: &Signed<'_>,
        own: Option<&Signature>,
        body: &[u8],
        now: u64,
    ) -> Result<(), &'static str> {
        let Signed { id: Some(id), timestamp: Some(timestamp), signatures: Some(signatures) } = *signed else {
            return Err("it is not signed");
        };
        if !timestamp.parse::<u64>().is_ok_and(|signed| signed.abs_diff(now) <= TOLERANCE) {
            return Err("its timestamp differs by more than 5 minutes from the local clock");
        }
        let is_valid = |signature: &str| {
            let Some(Ok(bytes)) = signature.strip_prefix("v1,").map(|encoded| BASE64.decode(encoded)) else {
                return false;
            };
            // `verify_slice` compares in constant time.
            let is_echo = own.is_some_and(|own| own[..] == bytes);
            !is_echo && self.mac(id.as_bytes(), timestamp, &[body]).verify_slice(&bytes).is_ok()
        };
        // Several signatures are allowed, for the rotation of secrets.
        if signatures.split(' ').any(is_valid) { Ok(()) } else { Err("its signature is wrong") }
    }
}

/// Headers of a signed message.
#[derive(Debug, Clone, Copy)]
pub struct Signed<'a> {
    /// `webhook-id`.
    pub id: Option<&'a str>,
    /// `webhook-timestamp`.
    pub timestamp: Option<&'a str>,
    /// `webhook-signature`.
    pub signatures: Option<&'a str>,
}

/// Verifies a message that was signed with this secret, at this time in seconds since 1970.
///
/// # Errors
/// The reason for the rejection. It does not contain the secret.
pub fn verify(secret: &str, signed: &Signed<'_>, body: &[u8], now: u64) -> Result<(), &'static str> {
    Key::new(secret)?.verify_signed(signed, None, body, now)
}

/// Returns the value of `webhook-signature` for a message.
///
/// # Errors
/// The problem of the secret, without the secret.
pub fn signature(secret: &str, id: &str, timestamp: &str, body: &[u8]) -> Result<String, &'static str> {
    Ok(header(&Key::new(secret)?.sign(id.as_bytes(), timestamp, &[body])))
}

/// Id, timestamp and signature of a request.
pub(super) struct RequestId {
    id: Id,
    timestamp: String,
    signature: Option<Signature>,
}

impl RequestId {
    pub(super) fn new<B: AsRef<[u8]>>(id: Id, key: Option<&Key>, body: &[B]) -> Self {
        let timestamp = now().to_string();
        let signature = key.map(|key| key.sign(&id.0, &timestamp, body));
        Self { id, timestamp, signature }
    }

    /// Reserves space for the headers that [`put`](Self::put) sets.
    pub(super) fn make_room(headers: &mut HeaderMap, is_signed: bool) {
        for name in [ID, TIMESTAMP].into_iter().chain(is_signed.then_some(SIGNATURE)) {
            headers.insert(name, HeaderValue::from_static(""));
        }
    }

    /// Sets the headers of the request.
    ///
    /// # Errors
    /// None in practice: all values are valid header values.
    pub(super) fn put(&self, headers: &mut HeaderMap) -> Result<(), InvalidHeaderValue> {
        headers.insert(ID, HeaderValue::from_bytes(&self.id.0)?);
        headers.insert(TIMESTAMP, HeaderValue::from_str(&self.timestamp)?);
        if let Some(signature) = &self.signature {
            headers.insert(SIGNATURE, HeaderValue::try_from(header(signature))?);
        }
        Ok(())
    }
}

fn header(signature: &[u8]) -> String {
    let mut text = String::with_capacity(48);
    text.push_str("v1,");
    BASE64.encode_string(signature, &mut text);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    fn headers(id: &str, timestamp: &str, signature: &str) -> HeaderMap {
        [(ID, id), (TIMESTAMP, timestamp), (SIGNATURE, signature)]
            .into_iter()
            .map(|(name, value)| (name, value.parse().unwrap()))
            .collect()
    }

    #[test]
    fn signs_the_example_of_the_specification() {
        let key = Key::new(SECRET).unwrap();
        let signed = key.sign(b"msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", &[r#"{"test":"#, r#" 2432232314}"#]);
        assert_eq!(header(&signed), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn answers_must_be_signed_for_their_request() {
        let key = Key::new("a secret").unwrap();
        let (own, another) = (Id(*b"msg_00000000000000000000000000000001"), "msg_00000000000000000000000000000002");
        let id = str::from_utf8(&own.0).unwrap();
        let sent = RequestId::new(own, Some(&key), &["{\"the\":\"event\"}"]);
        let (at, body) = (now(), b"{}".as_slice());
        let sign = |timestamp: u64| header(&key.sign(&own.0, &timestamp.to_string(), &[body]));
        let verify = |id, timestamp: u64, signature: &str, body| {
            key.verify(&sent, &headers(id, &timestamp.to_string(), signature), body, at)
        };
        assert_eq!(verify(id, at, &sign(at), body), Ok(()));
        assert_eq!(verify(id, at - 290, &format!("v1a,x v1,bm8= {}", sign(at - 290)), body), Ok(()));
        let other = header(&key.sign(another.as_bytes(), &at.to_string(), &[body]));
        for (id, timestamp, signature, body) in [
            (id, at, "v1,", body),
            (id, at, "", body),
            (id, at, &sign(at)[3..], body),
            (id, at, &sign(at - 1), body),
            (id, at, &sign(at), b"{ }"),
            (id, at - 310, &sign(at - 310), body),
            (id, at + 310, &sign(at + 310), body),
            (another, at, &other, body),
        ] {
            assert!(verify(id, timestamp, signature, body).is_err(), "{id} {timestamp} {signature}");
        }
        assert_eq!(key.verify(&sent, &HeaderMap::new(), body, at), Err("it is not signed"));
    }

    #[test]
    fn signature_of_the_request_is_rejected_in_the_reply() {
        let key = Key::new(SECRET).unwrap();
        let sent = RequestId::new(Ids::new().next(), Some(&key), &["{}"]);
        let id = str::from_utf8(&sent.id.0).unwrap();
        let signature = header(sent.signature.as_ref().unwrap());
        // Without padding it is the same signature in another notation.
        for echo in [signature.as_str(), signature.trim_end_matches('=')] {
            assert!(key.verify(&sent, &headers(id, &sent.timestamp, echo), b"{}", now()).is_err());
        }
    }

    #[test]
    fn invalid_secrets_are_rejected() {
        for secret in ["", "whsec_", "whsec_***"] {
            assert!(Key::new(secret).is_err(), "{secret}");
        }
    }

    #[test]
    fn request_ids_are_unique() {
        let (one, other) = (Ids::new(), Ids::new());
        let ids: std::collections::HashSet<_> = (0..100).flat_map(|_| [one.next().0, other.next().0]).collect();
        assert_eq!(ids.len(), 200);
        for id in ids {
            let digits = id.strip_prefix(b"msg_").unwrap();
            assert!(digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')));
        }
        let mut text = [0; 6];
        write_hex(&mut text, 0x00ab_c01f);
        assert_eq!(&text, b"abc01f");
    }
}
