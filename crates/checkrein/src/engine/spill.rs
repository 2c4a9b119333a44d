//! Texts that are longer than a dialect takes: the model gets the start, and the path of a file with all of it.

use checkrein_core::Opinion;
use checkrein_dialects::Dialect;

use crate::private_file;

/// How much of a text that is too long is shown.
const SHOWN: usize = 2_000;

pub(super) fn shortened(opinion: Opinion, dialect: &Dialect) -> Opinion {
    let Some(cap) = dialect.reply.text_cap else { return opinion };
    opinion.map_texts(|text| {
        // Mostly there are not even as many bytes.
        if text.len() <= cap || text.chars().count() <= cap {
            return text;
        }
        let start: String = text.chars().take(SHOWN).collect();
        let count = text.chars().count();
        // Without a file the rest is lost, and that is said.
        let rest = match private_file::write(&std::env::temp_dir(), ".txt", text.as_bytes()) {
            Ok(path) => format!("all of it is in {}", path.display()),
            Err(error) => format!("the rest could not be kept: {error}"),
        };
        format!("{start}\n… ({count} characters, more than the {cap} that are taken; {rest})")
    })
}
