//! Verifies signatures of `ssh-keygen -Y sign` with Ed25519 keys. The lockfile uses them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::{digest, signature};

use super::lockfile::NAMESPACE;

const KIND: &[u8] = b"ssh-ed25519";
const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----";
const END: &str = "-----END SSH SIGNATURE-----";
const MAGIC: &[u8] = b"SSHSIG";

/// Returns the name of the key that signed a text: the comment of the key, or the key itself.
///
/// # Errors
/// Returns the reason if none of the keys signed the text.
pub(super) fn verify(text: &[u8], armoured: &str, keys: &[String]) -> Result<String, String> {
    let signed = Signed::read(armoured)
        .ok_or("its signature is invalid; create it with `ssh-keygen -Y sign` and an Ed25519 key")?;
    if signed.namespace != NAMESPACE.as_bytes() {
        let namespace = String::from_utf8_lossy(&signed.namespace);
        return Err(format!(
            "its signature is for the namespace `{namespace}`, not `{NAMESPACE}`; sign with `-n checkrein`"
        ));
    }
    let known = keys.iter().filter_map(|line| Some((public_key(line)?, line)));
    let Some((key, line)) = known.into_iter().find(|(key, _)| *key == signed.key) else {
        return Err("it is signed with a key that is not in your `trusted_keys`".to_owned());
    };
    let hash = match signed.hash.as_slice() {
        b"sha512" => digest::digest(&digest::SHA512, text),
        b"sha256" => digest::digest(&digest::SHA256, text),
        _ => return Err("its signature uses an unknown hash; use sha512 or sha256".to_owned()),
    };
    let mut message = MAGIC.to_vec();
    for part in [&signed.namespace, &signed.reserved, &signed.hash, hash.as_ref()] {
        put(&mut message, part);
    }
    let key = signature::UnparsedPublicKey::new(&signature::ED25519, key);
    key.verify(&message, &signed.signature)
        .map_err(|_| "it has changed since it was signed; review it and sign it again".to_owned())?;
    let name = line.split_whitespace().skip(2).collect::<Vec<_>>().join(" ");
    Ok(if name.is_empty() { line.clone() } else { name })
}

/// Parses the key of a line in the format of `id_ed25519.pub`.
fn public_key(line: &str) -> Option<Vec<u8>> {
    let mut words = line.split_whitespace();
    if words.next()?.as_bytes() != KIND {
        return None;
    }
    parse_key(&STANDARD.decode(words.next()?).ok()?)
}

/// Parses the key from its wire format.
fn parse_key(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut reader = SignatureReader(bytes);
    let (kind, key) = (reader.text()?, reader.text()?);
    if kind == KIND && key.len() == 32 && reader.0.is_empty() { Some(key.to_vec()) } else { None }
}

struct Signed {
    key: Vec<u8>,
    namespace: Vec<u8>,
    reserved: Vec<u8>,
    hash: Vec<u8>,
    signature: Vec<u8>,
}

impl Signed {
    fn read(armoured: &str) -> Option<Self> {
        let inside = armoured.trim().strip_prefix(BEGIN)?.strip_suffix(END)?;
        let bytes = STANDARD.decode(inside.split_whitespace().collect::<String>()).ok()?;
        let mut reader = SignatureReader(bytes.strip_prefix(MAGIC)?);
        if reader.number()? != 1 {
            return None;
        }
        let mut part = || reader.text().map(<[u8]>::to_vec);
        let (key, namespace, reserved, hash, inner) = (part()?, part()?, part()?, part()?, part()?);
        let mut inner = SignatureReader(&inner);
        let (kind, signature) = (inner.text()?, inner.text()?);
        if kind != KIND || !inner.0.is_empty() || !reader.0.is_empty() {
            return None;
        }
        Some(Self { key: parse_key(&key)?, namespace, reserved, hash, signature: signature.to_vec() })
    }
}

/// Reads fields that start with their length.
struct SignatureReader<'a>(&'a [u8]);

impl<'a> SignatureReader<'a> {
    fn number(&mut self) -> Option<u32> {
        let (first, rest) = self.0.split_first_chunk::<4>()?;
        self.0 = rest;
        Some(u32::from_be_bytes(*first))
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(text)
    }
}

fn put(message: &mut Vec<u8>, part: &[u8]) {
    message.extend_from_slice(&u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes());
    message.extend_from_slice(part);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made by `ssh-keygen -Y sign -n checkrein` over `a lockfile\n`.
    const KEY: &str = include_str!("testdata/key.pub");
    const SIGNATURE: &str = include_str!("testdata/signature");
    const OTHER_NAMESPACE: &str = include_str!("testdata/signature-for-file");

    #[test]
    fn only_signatures_of_trusted_keys_are_accepted() {
        let keys = [KEY.to_owned()];
        assert_eq!(verify(b"a lockfile\n", SIGNATURE, &keys), Ok("ann@example.com".to_owned()));
        assert!(
            verify(b"another lockfile\n", SIGNATURE, &keys).unwrap_err().contains("has changed since it was signed")
        );
        assert!(verify(b"a lockfile\n", OTHER_NAMESPACE, &keys).unwrap_err().contains("the namespace `file`"));
        let unknown = KEY.replace(&KEY[40..50], "AAAAAAAAAA");
        assert!(verify(b"a lockfile\n", SIGNATURE, &[unknown]).unwrap_err().contains("not in your `trusted_keys`"));
        assert!(verify(b"a lockfile\n", "nonsense", &keys).is_err());
        // Changing any byte is an error and never a panic.
        let inside: Vec<char> = SIGNATURE.chars().collect();
        for index in BEGIN.len()..inside.len() - END.len() - 2 {
            let mut other = inside.clone();
            other[index] = if other[index] == 'A' { 'B' } else { 'A' };
            let other: String = other.into_iter().collect();
            assert!(verify(b"a lockfile\n", &other, &keys).is_err(), "{index}");
        }
    }
}
