//! Handler of callbacks: functions that the host passes with the hook.

use checkrein_core::{Failure, Reply};
use checkrein_dialects::Callback;

use super::{Call, Handler, HandlerFuture};

/// Calls the function of one hook.
pub(crate) struct CallbackHandler(pub(crate) Callback);

impl Handler for CallbackHandler {
    fn call<'a>(&'a self, call: &'a Call) -> HandlerFuture<'a> {
        let reply = self.0.call(&call.view.event);
        Box::pin(async move { reply.await.map(Reply::Opinion).map_err(Failure::from_error) })
    }

    /// Callbacks have no limit: they do not wait for anything that checkrein started.
    fn is_limited(&self) -> bool {
        false
    }
}
