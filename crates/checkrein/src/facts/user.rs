//! Name of the user, for processes without `USER`.

/// Maximum size of the file with the users, in bytes.
#[cfg(unix)]
const SIZE: u64 = 1 << 20;

/// Returns the name of the user of this process, from `/etc/passwd`; empty if it has none.
#[cfg(unix)]
pub(super) fn name() -> String {
    let id = rustix::process::geteuid().as_raw().to_string();
    let users = crate::regular_file::read_text(std::path::Path::new("/etc/passwd"), SIZE).unwrap_or_default();
    users.lines().find_map(|line| name_of(line, &id)).unwrap_or_default().to_owned()
}

#[cfg(not(unix))]
pub(super) fn name() -> String {
    String::new()
}

/// Returns the name in a line `NAME:PASSWORD:ID:…`, if it has this ID.
#[cfg(unix)]
fn name_of<'l>(line: &'l str, id: &str) -> Option<&'l str> {
    let mut fields = line.split(':');
    let name = fields.next()?;
    if fields.nth(1) == Some(id) { Some(name) } else { None }
}

#[cfg(all(test, unix))]
mod tests {
    use super::name_of;

    #[test]
    fn a_line_names_its_user() {
        assert_eq!(name_of("me:x:1000:1000::/home/me:/bin/sh", "1000"), Some("me"));
        assert_eq!(name_of("me:x:1000:100::/home/me:/bin/sh", "100"), None);
        assert_eq!(name_of("", "0"), None);
    }
}
