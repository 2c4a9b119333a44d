//! Texts that exceed the limit of a dialect.
//!
//! The model gets the start of the text and the path of a file with the whole text.

use checkrein_core::Opinion;
use checkrein_dialects::Dialect;

use crate::private_file;

/// Number of characters that remain of a text over the limit.
const SHOWN: usize = 2_000;

/// Shortens the texts of an opinion to the limit of the dialect.
pub(super) fn shortened(opinion: Opinion, dialect: &Dialect) -> Opinion {
    let Some(cap) = dialect.reply.text_cap else { return opinion };
    opinion.map_texts(|text| {
        // The cheap check first: most texts have fewer bytes than the limit has characters.
        if text.len() <= cap || text.chars().count() <= cap {
            return text;
        }
        let start: String = text.chars().take(SHOWN).collect();
        let count = text.chars().count();
        let rest = match private_file::write(&std::env::temp_dir(), ".txt", text.as_bytes()) {
            Ok(path) => format!("read the full text in {}", path.display()),
            Err(error) => format!("the full text could not be saved: {error}"),
        };
        format!("{start}\n… (cut: the text has {count} characters, and the limit is {cap}; {rest})")
    })
}
