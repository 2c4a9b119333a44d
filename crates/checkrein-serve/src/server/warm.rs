//! Requests for warm interpreters.

use std::sync::Arc;

use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;

use super::Shared;
use crate::protocol::{Answer, Request, frame};

/// Gives the connection to the pool, to the end of the run.
#[cfg(target_os = "linux")]
pub(super) async fn serve(mut stream: UnixStream, request: Request, shared: &Arc<Shared>) {
    use tokio::sync::oneshot;

    shared.activity.touch();
    let request = match request.read() {
        Ok(request) => request,
        Err(error) => return refuse(&mut stream, error.to_string()).await,
    };
    let Ok(connection) = stream.into_std() else { return };
    if connection.set_nonblocking(false).is_err() {
        return;
    }
    let pool = Arc::clone(&shared.warm);
    let (done, finished) = oneshot::channel();
    // A thread of the runtime would delay its end until the run has ended. Without a thread, the hook runs cold.
    let thread = std::thread::Builder::new().name("checkrein-warm-run".to_owned());
    let started = thread.spawn(move || {
        pool.serve(&connection, request);
        let _ = done.send(());
    });
    if started.is_ok() {
        let _ = finished.await;
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) async fn serve(mut stream: UnixStream, _: Request, _: &Arc<Shared>) {
    refuse(&mut stream, "warm interpreters need Linux".to_owned()).await;
}

async fn refuse(stream: &mut UnixStream, error: String) {
    // The sender may be gone.
    let _ = stream.write_all(&frame(&Answer::error(error).text())).await;
}
