//! Desktop notifications: the D-Bus service `org.freedesktop.Notifications` on Linux, `osascript` on macOS.

use std::time::Duration;

/// Longest wait for the desktop.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Shows a notification in place of another one, and returns its number. 0: none. A machine without a desktop is no error.
pub(super) async fn show(replaces: u32, title: &str, text: &str) -> Result<u32, String> {
    tokio::time::timeout(TIMEOUT, shown(replaces, title, text)).await.unwrap_or_else(|_| {
        let text = "the desktop did not answer in 5 s; `checkrein serve --no-desktop` turns notifications off";
        Err(text.to_owned())
    })
}

/// Closes a notification, if the desktop can do that.
#[cfg(all(target_os = "linux", feature = "desktop"))]
pub(super) async fn close(number: u32) {
    let closed = async {
        let Ok(connection) = zbus::Connection::session().await else { return };
        // The user may have closed it.
        let _ = connection.call_method(Some(SERVICE), PATH, Some(SERVICE), "CloseNotification", &(number,)).await;
    };
    let _ = tokio::time::timeout(TIMEOUT, closed).await;
}

/// The desktop closes notifications by itself.
#[cfg(not(all(target_os = "linux", feature = "desktop")))]
#[expect(clippy::unused_async, reason = "the same signature on all systems")]
pub(super) async fn close(_: u32) {}

#[cfg(all(target_os = "linux", feature = "desktop"))]
const SERVICE: &str = "org.freedesktop.Notifications";

#[cfg(all(target_os = "linux", feature = "desktop"))]
const PATH: &str = "/org/freedesktop/Notifications";

#[cfg(all(target_os = "linux", feature = "desktop"))]
async fn shown(replaces: u32, title: &str, text: &str) -> Result<u32, String> {
    use std::collections::HashMap;
    use zbus::zvariant::Value;

    // Without a session bus there is no desktop.
    let Ok(connection) = zbus::Connection::session().await else { return Ok(0) };
    // Critical notifications stay until the user closes them.
    let hints = HashMap::from([("urgency", Value::U8(2)), ("category", Value::from("im.received"))]);
    let actions: [&str; 0] = [];
    let body = escaped(text);
    let notification = ("checkrein", replaces, "dialog-question", title, body, &actions[..], hints, -1_i32);
    let sent = connection.call_method(Some(SERVICE), PATH, Some(SERVICE), "Notify", &notification).await;
    match sent {
        Ok(answer) => Ok(answer.body().deserialize().unwrap_or_default()),
        // A session bus without a service for notifications belongs to no desktop.
        Err(zbus::Error::MethodError(name, ..)) if name.as_str() == "org.freedesktop.DBus.Error.ServiceUnknown" => {
            Ok(0)
        }
        Err(error) => Err(error.to_string()),
    }
}

/// The body of a notification may have markup.
#[cfg(all(target_os = "linux", feature = "desktop"))]
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(target_os = "macos")]
async fn shown(_: u32, title: &str, text: &str) -> Result<u32, String> {
    const SCRIPT: &str = "on run argv\ndisplay notification (item 2 of argv) with title \"checkrein\" subtitle (item 1 of argv)\nend run";
    let mut command = tokio::process::Command::new("/usr/bin/osascript");
    command.args(["-e", SCRIPT, "--", title, text]).stdin(std::process::Stdio::null()).kill_on_drop(true);
    let output = command.output().await.map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(0),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}

#[cfg(not(any(target_os = "macos", all(target_os = "linux", feature = "desktop"))))]
#[expect(clippy::unused_async, reason = "the same signature on all systems")]
async fn shown(_: u32, _: &str, _: &str) -> Result<u32, String> {
    Ok(0)
}
