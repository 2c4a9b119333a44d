//! The resident process of checkrein: one optional process per user.
//!
//! It shows what agents do, takes approvals, and keeps interpreters of hooks warm. `checkrein hook` uses it if it runs, and does
//! everything itself if it does not. The process must never be in the way of an agent, and it has no more authority than the
//! hooks of its user.
//!
//! | module | contents |
//! |---|---|
//! | [`protocol`] | frames and requests on the socket |
//! | [`runtime_dir`] | the private directory of the socket |
//! | [`client`] | connections to the process, for `checkrein hook` and the commands |
//! | [`server`] | the process itself |
//! | [`notify`] | notifications about questions, and signed answers |
//! | [`store`] | events, sessions and hooks |
//! | [`tui`] | the terminal view |
//! | `warm` | interpreters that wait for a hook, on Linux |
//! | [`web`] | the live page |

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

#[cfg(unix)]
pub mod client;
mod directory_watch;
#[cfg(unix)]
pub mod notify;
#[cfg(feature = "otel")]
#[cfg_attr(docsrs, doc(cfg(feature = "otel")))]
pub mod otel;
pub mod protocol;
#[cfg(unix)]
pub mod runtime_dir;
#[cfg(unix)]
pub mod server;
pub mod store;
pub mod tui;
#[cfg(target_os = "linux")]
pub mod warm;
pub mod web;
