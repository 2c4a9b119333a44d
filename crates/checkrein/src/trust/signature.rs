//! Signatures as `ssh-keygen -Y sign` makes them, with Ed25519 keys.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::{digest, signature};

use super::lockfile::NAMESPACE;

const KIND: &[u8] = b"ssh-ed25519";
const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----";
const END: &str = "-----END SSH SIGNATURE-----";
const MAGIC: &[u8] = b"SSHSIG";

/// Who of these has signed a text: the name behind the key, or the key itself.
///
/// # Errors
/// Why nobody has, in words.
pub(super) fn verify(text: &[u8], armoured: &str, keys: &[String]) -> Result<String, String> {
    let signed = Signed::read(armoured).ok_or("its signature is none of `ssh-keygen -Y sign` with an Ed25519 key")?;
    if signed.namespace != NAMESPACE.as_bytes() {
        let said = String::from_utf8_lossy(&signed.namespace);
        return Err(format!("its signature was made for `{said}`, not for `{NAMESPACE}`"));
    }
    let known = keys.iter().filter_map(|line| Some((public_key(line)?, line)));
    let Some((key, line)) = known.into_iter().find(|(key, _)| *key == signed.key) else {
        return Err("it is signed with a key that you do not trust".to_owned());
    };
    let hash = match signed.hash.as_slice() {
        b"sha512" => digest::digest(&digest::SHA512, text),
        b"sha256" => digest::digest(&digest::SHA256, text),
        _ => return Err("its signature is over a hash that is not known".to_owned()),
    };
    let mut message = MAGIC.to_vec();
    for part in [&signed.namespace, &signed.reserved, &signed.hash, hash.as_ref()] {
        put(&mut message, part);
    }
    let key = signature::UnparsedPublicKey::new(&signature::ED25519, key);
    key.verify(&message, &signed.signature).map_err(|_| "it is not what was signed".to_owned())?;
    let name = line.split_whitespace().skip(2).collect::<Vec<_>>().join(" ");
    Ok(if name.is_empty() { line.clone() } else { name })
}

/// The key of a line as in `id_ed25519.pub`.
fn public_key(line: &str) -> Option<Vec<u8>> {
    let mut words = line.split_whitespace();
    if words.next()?.as_bytes() != KIND {
        return None;
    }
    key_of(&STANDARD.decode(words.next()?).ok()?)
}

/// The key inside of its wire form.
fn key_of(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut reader = SignatureReader(bytes);
    let (kind, key) = (reader.text()?, reader.text()?);
    (kind == KIND && key.len() == 32 && reader.0.is_empty()).then(|| key.to_vec())
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
        (kind == KIND && inner.0.is_empty() && reader.0.is_empty())
            .then_some(())
            .and_then(|()| Some(Self { key: key_of(&key)?, namespace, reserved, hash, signature: signature.to_vec() }))
    }
}

/// Reads what has its length in front of it.
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
    fn what_a_trusted_key_has_signed_is_believed() {
        let keys = [KEY.to_owned()];
        assert_eq!(verify(b"a lockfile\n", SIGNATURE, &keys), Ok("somebody@example.com".to_owned()));
        assert!(verify(b"another lockfile\n", SIGNATURE, &keys).unwrap_err().contains("not what was signed"));
        assert!(verify(b"a lockfile\n", OTHER_NAMESPACE, &keys).unwrap_err().contains("made for `file`"));
        let stranger = KEY.replace(&KEY[40..50], "AAAAAAAAAA");
        assert!(verify(b"a lockfile\n", SIGNATURE, &[stranger]).unwrap_err().contains("do not trust"));
        assert!(verify(b"a lockfile\n", "nonsense", &keys).is_err());
        // Every byte counts, and none of them makes it panic.
        let inside: Vec<char> = SIGNATURE.chars().collect();
        for at in BEGIN.len()..inside.len() - END.len() - 2 {
            let mut other = inside.clone();
            other[at] = if other[at] == 'A' { 'B' } else { 'A' };
            let other: String = other.into_iter().collect();
            assert!(verify(b"a lockfile\n", &other, &keys).is_err(), "{at}");
        }
    }
}
