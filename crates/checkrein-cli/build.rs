//! Says how the program is linked where it is shipped.

#![allow(clippy::print_stdout, reason = "this is how cargo is told")]

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=link/first.ld");
    println!("cargo::rerun-if-env-changed=CHECKREIN_LINK_ORDER");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|said| said == value);
    let is_shipped =
        is("CARGO_CFG_TARGET_ENV", "musl") && is("CARGO_CFG_TARGET_ARCH", "x86_64") && is("PROFILE", "release");
    // For linkers that know no scripts.
    if !is_shipped || is("CHECKREIN_LINK_ORDER", "off") {
        return;
    }
    // Functions that `checkrein hook` runs, next to each other: `link/renew` says how they are found.
    let script = env::current_dir().map(|dir| dir.join("link/first.ld"));
    // At a comma, the path would end there. Without the script it is the same program, a little slower.
    if let Some(script) = script.as_ref().ok().and_then(|script| script.to_str()).filter(|path| !path.contains(',')) {
        println!("cargo::rustc-link-arg-bins=-Wl,-T,{script}");
    }
}
