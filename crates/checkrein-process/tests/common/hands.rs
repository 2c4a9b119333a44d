//! For tests of the threads that run processes where there are as many runs as processors.

use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use checkrein_process::{Limits, Place, Program, Reply, RunError, Stdin};
use tokio::runtime::{Builder, Runtime};

use super::{Tag, limits, place, until};

/// One test at a time: others would change how many runs there are.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    all_go();
    alone
}

/// Waits until there is no such thread any more.
pub fn all_go() {
    let waits = Builder::new_current_thread().enable_time().build().unwrap();
    waits.block_on(until("no thread is left", || hands() == 0));
}

pub fn processors() -> usize {
    rustix::thread::sched_getaffinity(None).unwrap().count() as usize
}

pub fn runtime() -> Runtime {
    with_a_hand(&mut Builder::new_multi_thread())
}

/// A runtime with one thread for tasks, which has made one of ours.
pub fn with_a_hand(builder: &mut Builder) -> Runtime {
    let runtime = builder.worker_threads(1).enable_all().build().unwrap();
    let before = hands();
    // At the first run nobody knows yet that its thread is one for tasks.
    for _ in 0..2 {
        crowded(&runtime, run(Program::argv(["true"]), place("/"), Stdin::none(), limits())).unwrap();
    }
    assert_eq!(hands(), before + usize::from(has_hands()), "one thread has done it");
    runtime
}

/// Whether there are such threads on this machine: some sandboxes refuse what it takes to start a process without standing still.
#[allow(unsafe_code, reason = "a call that the library has no name for")]
pub fn has_hands() -> bool {
    // SAFETY: it asks for nothing, and is refused for that where it is not refused anyway.
    let asked = unsafe { libc::syscall(libc::SYS_clone3, std::ptr::null::<libc::clone_args>(), 0) };
    let knows = asked == -1 && std::io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL);
    cfg!(target_arch = "x86_64") && processors() > 1 && knows
}

/// A run that has begun.
pub async fn begun<F: Future>(run: F) -> std::pin::Pin<Box<F>> {
    let mut run = Box::pin(run);
    assert!(poll_fn(|cx| Poll::Ready(run.as_mut().poll(cx).is_pending())).await);
    run
}

/// How many such threads there are.
pub fn hands() -> usize {
    let names = std::fs::read_dir("/proc/self/task").unwrap().flatten().map(|task| task.path().join("comm"));
    names.filter(|name| std::fs::read_to_string(name).is_ok_and(|name| name.trim() == "checkrein-hand")).count()
}

/// Does something in a task while all processors but one have a process.
pub fn crowded<T: Send + 'static>(runtime: &Runtime, work: impl Future<Output = T> + Send + 'static) -> T {
    let tag = Tag::new();
    let (place, stdin, limits) = (tag.place("/"), Stdin::none(), limits());
    let sleeps = Program::shell(tag.text("exec sleep 100")).prepare(&place).unwrap();
    runtime.block_on(async {
        // These are no tasks, so they are started as ever.
        let mut others = Vec::new();
        for _ in 1..processors() {
            others.push(begun(sleeps.run(&place, &stdin, &limits)).await);
        }
        tokio::spawn(work).await.unwrap()
    })
}

pub async fn run(program: Program, place: Place, stdin: Stdin, limits: Limits) -> Result<Reply, RunError> {
    program.prepare(&place)?.run(&place, &stdin, &limits).await
}

/// Refuses a call to this thread and those it starts, if none of these bits is in its fourth argument.
#[allow(unsafe_code, reason = "a call that the library has no name for")]
pub fn refuse(call: libc::c_long, unless: u32) {
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const IS: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const HAS: u16 = (libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    /// Where the fourth argument is.
    const FOURTH: u32 = 16 + 3 * 8 + if cfg!(target_endian = "big") { 4 } else { 0 };
    let step = |code: u16, jt: u8, jf: u8, k: u32| libc::sock_filter { code, jt, jf, k };
    let mut steps = [
        step(LOAD, 0, 0, 0),
        step(IS, 0, 3, u32::try_from(call).unwrap()),
        step(LOAD, 0, 0, FOURTH),
        step(HAS, 1, 0, unless),
        step(RETURN, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs()),
        step(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let filter = libc::sock_fprog { len: 6, filter: steps.as_mut_ptr() };
    rustix::thread::set_no_new_privs(true).unwrap();
    // SAFETY: the filter lives until the call has returned, and holds for this thread and those it starts.
    let set = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const filter) };
    assert_eq!(set, 0);
}
