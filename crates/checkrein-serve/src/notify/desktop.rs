//! Desktop notifications: the D-Bus service `org.freedesktop.Notifications` on Linux, `osascript` on macOS.

use std::time::Duration;

/// Longest wait for the desktop.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Shows a notification. A machine without a desktop is no error.
pub(super) async fn show(title: &str, text: &str) -> Result<(), String> {
    tokio::time::timeout(TIMEOUT, shown(title, text))
        .await
        .unwrap_or_else(|_| Err("the desktop does not answer".to_owned()))
}

#[cfg(all(target_os = "linux", feature = "desktop"))]
async fn shown(title: &str, text: &str) -> Result<(), String> {
    use std::collections::HashMap;
    use zbus::zvariant::Value;

    const SERVICE: &str = "org.freedesktop.Notifications";
    // Without a session bus there is no desktop.
    let Ok(connection) = zbus::Connection::session().await else { return Ok(()) };
    // Critical notifications stay until the user closes them.
    let hints = HashMap::from([("urgency", Value::U8(2)), ("category", Value::from("im.received"))]);
    let actions: [&str; 0] = [];
    let body = escaped(text);
    let notification = ("checkrein", 0_u32, "dialog-question", title, body, &actions[..], hints, -1_i32);
    let path = "/org/freedesktop/Notifications";
    let sent = connection.call_method(Some(SERVICE), path, Some(SERVICE), "Notify", &notification).await;
    match sent {
        Ok(_) => Ok(()),
        // A session bus without a service for notifications belongs to no desktop.
        Err(zbus::Error::MethodError(name, ..)) if name.as_str() == "org.freedesktop.DBus.Error.ServiceUnknown" => {
            Ok(())
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
async fn shown(title: &str, text: &str) -> Result<(), String> {
    const SCRIPT: &str = "on run argv\ndisplay notification (item 2 of argv) with title \"checkrein\" subtitle (item 1 of argv)\nend run";
    let mut command = tokio::process::Command::new("/usr/bin/osascript");
    command.args(["-e", SCRIPT, "--", title, text]).stdin(std::process::Stdio::null()).kill_on_drop(true);
    let output = command.output().await.map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}

#[cfg(not(any(target_os = "macos", all(target_os = "linux", feature = "desktop"))))]
#[expect(clippy::unused_async, reason = "the same signature on all systems")]
async fn shown(_: &str, _: &str) -> Result<(), String> {
    Ok(())
}
