//! Connections of tools: URLs in their input.

use checkrein_core::Event;

use super::{Connection, url};
use crate::builtins::json_strings::strings;
use crate::builtins::shell::Expanded;

/// Fields that hold a URL, compared without case and underscores.
const URLS: &[&str] =
    &["url", "urls", "uri", "uris", "href", "link", "endpoint", "baseurl", "targeturl", "pageurl", "webhook"];

/// Words in the names of tools that fetch pages. They may have URLs anywhere in their input.
const FETCHES: &[&str] =
    &["fetch", "webfetch", "browse", "browser", "navigate", "goto", "crawl", "scrape", "download", "http", "request"];

/// Fields whose text is sent, compared without case and underscores.
const SENT: &[&str] = &["body", "data", "payload", "json", "form", "files", "postdata", "formdata"];

/// Methods of HTTP that send data.
const METHODS: &[&str] = &["POST", "PUT", "PATCH"];

/// Words in the names of tools that send data.
const SENDS: &[&str] = &["upload", "post", "send", "publish", "put"];

/// Returns the connections of a tool by its input.
pub(super) fn in_input(event: &Event) -> Vec<Connection> {
    let (Some(input), Some(name)) = (event.tool_input(), event.tool_name()) else { return Vec::new() };
    let strings = strings(input);
    let key = |key: Option<&str>| {
        key.unwrap_or_default().chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
    };
    let own = name.rsplit("__").next().unwrap_or(name);
    let words = words(own);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let is_fetch = has(FETCHES);
    let upload = has(SENDS)
        || strings.iter().any(|string| {
            let (key, text) = (key(string.key()), &*string.text.decoded);
            SENT.contains(&key.as_str()) && !text.is_empty()
                || key == "method" && METHODS.iter().any(|method| text.eq_ignore_ascii_case(method))
        });
    let mut connections: Vec<Connection> = Vec::new();
    let mut add = |text: &str| {
        let word = Expanded { text: text.to_owned(), known: true, ..Expanded::default() };
        let url = url::parse(&word);
        // These name no host.
        let is_local = matches!(url.scheme.as_str(), "file" | "data" | "about" | "chrome" | "blob");
        if is_local || url.host.text.is_empty() || connections.iter().any(|other| other.url == word) {
            return;
        }
        let scheme = if url.scheme.is_empty() { "https".to_owned() } else { url.scheme };
        connections.push(Connection {
            host: url.host,
            port: url.port,
            scheme,
            upload,
            url: word,
            program: String::new(),
        });
    };
    for string in &strings {
        let text = string.text.decoded.trim();
        if URLS.contains(&key(string.key()).as_str()) {
            let has_scheme = text.contains("://");
            // A URI without a host, such as `note:1`, is none; `example.com/x` in the field of a fetch tool is one.
            if has_scheme || is_fetch && !text.is_empty() && !text.contains(char::is_whitespace) {
                add(text);
            }
        } else if is_fetch {
            url::find_all(text).for_each(&mut add);
        }
    }
    connections
}

/// Splits `browser_navigate` and `WebFetch` into words.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        was_lower = c.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words
}
