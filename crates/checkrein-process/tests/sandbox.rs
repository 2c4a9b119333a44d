//! Restrictions of sandboxes, tested with real processes.
//!
//! The processes are this test program, started with the name of an action (see [`act`]).

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a failed test reports its cause by panicking"
)]

mod common;

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use checkrein_process::{
    ExecContext, Exit, Files, HookCommand, LimitExceeded, Limits, RunError, RunOutput, Sandbox, SandboxError, Stdin,
};
use common::{Tag, limits, path, run, script, text};
use tempfile::TempDir;

const ACT: &str = "SANDBOX_ACT";
/// The arguments for this program to run only [`act`].
const ACT_ARGUMENTS: &[&str] = &["--exact", "act", "--include-ignored", "--nocapture"];
/// Number of remaining generations of a fork bomb.
const GENERATIONS: &str = "CHECKREIN_TEST_GENERATIONS";
const TARGET: &str = "SANDBOX_TARGET";

/// The actions of the processes. Not a test.
#[test]
#[ignore = "other tests start it as a process"]
fn act() {
    let Ok(name) = std::env::var(ACT) else { return };
    let at = std::env::var(TARGET).unwrap_or_default();
    let at = Path::new(&at);
    let done: io::Result<()> = match name.as_str() {
        "read" => fs::read(at).map(drop),
        "list" => fs::read_dir(at).map(drop),
        "write" => fs::write(at, "written"),
        "cut" => rustix::fs::open(at, rustix::fs::OFlags::WRONLY | rustix::fs::OFlags::TRUNC, 0.into())
            .map(drop)
            .map_err(Into::into),
        "remove" => fs::remove_file(at),
        "make directory" => fs::create_dir(at.with_extension("directory")),
        "link" => std::os::unix::fs::symlink("/", at.with_extension("link")),
        "hard link" => fs::hard_link(at, std::env::temp_dir().join("linked")),
        "move away" => fs::rename(at, std::env::temp_dir().join("moved")),
        "chmod" => fs::set_permissions(at, fs::Permissions::from_mode(0o666)),
        "fchmod" => fs::File::open(at).and_then(|file| file.set_permissions(fs::Permissions::from_mode(0o666))),
        "set time" => fs::File::open(at)
            .and_then(|_| Command::new("touch").arg("-d").arg("2001-01-01").arg(at).status().and_then(ok_if_zero)),
        "execute" => Command::new(at).status().map(drop),
        "temporary" => fs::write(std::env::temp_dir().join("x"), "x"),
        "nothing" => fs::write("/dev/null", "x"),
        "tcp" => TcpStream::connect(at.to_str().unwrap()).map(drop),
        "listen" => TcpListener::bind("127.0.0.1:0").map(drop),
        "udp" => UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.send_to(b"x", at.to_str().unwrap())).map(drop),
        "unix" => UnixStream::connect(at).map(drop),
        "unix datagram" => UnixDatagram::unbound().and_then(|socket| socket.send_to(b"x", at)).map(drop),
        "turned pair" => UnixDatagram::pair().and_then(|(socket, _)| socket.send_to(b"x", at)).map(drop),
        "pair" => UnixStream::pair().and_then(|(mut one, _two)| one.write_all(b"x")),
        "renice itself" => call(libc::SYS_setpriority, [libc::PRIO_PROCESS.into(), 0, 19]),
        "renice parent" => call(libc::SYS_setpriority, [libc::PRIO_PROCESS.into(), parent(), 19]),
        "renice user" => call(libc::SYS_setpriority, [libc::PRIO_USER.into(), 0, 19]),
        "set affinity of parent" => call(libc::SYS_sched_setaffinity, [parent(), 8, (&raw const MASK) as i64]),
        "set scheduler of parent" => {
            call(libc::SYS_sched_setscheduler, [parent(), libc::SCHED_IDLE.into(), (&raw const PARAMETER) as i64])
        }
        "set I/O priority of parent" => call(libc::SYS_ioprio_set, [1, parent(), 3 << 13]),
        "set I/O priority of user" => call(libc::SYS_ioprio_set, [3, 0, 3 << 13]),
        "setsid" => rustix::process::setsid().map(drop).map_err(Into::into),
        "setpgid" => rustix::process::setpgid(None, None).map_err(Into::into),
        "namespace" => Command::new("unshare").args(["-Ur", "true"]).status().and_then(ok_if_zero),
        "signal the host" => {
            rustix::process::test_kill_process(rustix::process::getppid().unwrap()).map_err(Into::into)
        }
        "environment of the host" => {
            fs::read(format!("/proc/{}/environ", rustix::process::getppid().unwrap())).map(drop)
        }
        "raise a limit" => {
            let mut all = rustix::process::getrlimit(rustix::process::Resource::Nofile);
            all.maximum = all.maximum.map(|most| most + 1);
            rustix::process::setrlimit(rustix::process::Resource::Nofile, all).map_err(Into::into)
        }
        "open files" => {
            let files: Vec<_> = (0..100_000).map_while(|_| fs::File::open("/dev/null").ok()).collect();
            println!("ACT: opened {}", files.len());
            Ok(())
        }
        "large file" => {
            fs::File::create(at).and_then(|mut file| (0..1024).try_for_each(|_| file.write_all(&[0; 64 * 1024])))
        }
        "allocate" => {
            let mut all: Vec<Vec<u8>> = Vec::new();
            loop {
                let mut more = Vec::new();
                if more.try_reserve_exact(16 << 20).is_err() {
                    break;
                }
                more.resize(16 << 20, 1);
                all.push(more);
            }
            println!("ACT: had {} MiB", all.len() * 16);
            Ok(())
        }
        // A file in memory: no limit of a single process applies to it.
        "share" => {
            let flags = rustix::fs::MemfdFlags::empty();
            let mut file = fs::File::from(rustix::fs::memfd_create("shared", flags).unwrap());
            let size = 8 << 30;
            file.set_len(size).unwrap();
            map_and_fill(&mut file, size)
        }
        "burn" => loop {
            std::hint::spin_loop();
        },
        // About nine hundred processes without a limit: far more than allowed, but harmless for a machine.
        "multiply" => {
            let left: u32 = std::env::var(GENERATIONS).map_or(2, |left| left.parse().unwrap());
            for _ in 0..if left == 0 { 0 } else { 30 } {
                let mut child = Command::new(std::env::current_exe().unwrap());
                let _ = child.args(ACT_ARGUMENTS).env(GENERATIONS, (left - 1).to_string()).spawn();
            }
            std::thread::sleep(Duration::from_secs(100));
            Ok(())
        }
        other => panic!("{other}"),
    };
    match done {
        Ok(()) => println!("ACT: ok"),
        Err(error) => println!("ACT: {:?}", error.kind()),
    }
}

/// All processors, for a system call.
static MASK: u64 = u64::MAX;
/// A scheduling parameter, for a system call.
static PARAMETER: libc::c_int = 0;

fn parent() -> i64 {
    std::os::unix::process::parent_id().into()
}

#[allow(unsafe_code, reason = "neither std nor rustix has all of these calls")]
fn call(number: libc::c_long, [first, second, third]: [i64; 3]) -> io::Result<()> {
    // SAFETY: the arguments are numbers, or addresses of statics that the call only reads.
    match unsafe { libc::syscall(number, first, second, third) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

fn ok_if_zero(status: std::process::ExitStatus) -> io::Result<()> {
    if status.success() { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

#[allow(unsafe_code, reason = "shared memory has no safe interface")]
fn map_and_fill(file: &mut fs::File, size: u64) -> io::Result<()> {
    let size = usize::try_from(size).unwrap();
    // SAFETY: a new mapping of a file that only this process has.
    unsafe {
        let at = libc::mmap(
            std::ptr::null_mut(),
            size,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            0,
        );
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        for page in (0..size).step_by(4096) {
            at.cast::<u8>().add(page).write_volatile(1);
        }
    }
    Ok(())
}

/// A project directory and a directory outside of it.
struct World {
    dir: TempDir,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["project", "outside"] {
            fs::create_dir(dir.path().join(name)).unwrap();
            fs::write(dir.path().join(name).join("file"), "before").unwrap();
        }
        Self { dir }
    }

    fn at(&self, name: &str) -> String {
        self.dir.path().join(name).display().to_string()
    }

    fn place(&self, act: &str, at: &str) -> ExecContext {
        // Shells start this program by its path. A directory of the PATH is always allowed.
        let here = std::env::current_exe().unwrap();
        let path = format!("{}:{}", path(), here.parent().unwrap().display());
        ExecContext::new(self.at("project")).env([("PATH", path), (ACT, act.into()), (TARGET, at.into())])
    }
}

fn this_program() -> HookCommand {
    let me = std::env::current_exe().unwrap();
    HookCommand::argv(std::iter::once(me.as_os_str()).chain(ACT_ARGUMENTS.iter().map(OsStr::new)))
}

/// This program as a grandchild of two shells: restrictions apply to descendants too.
fn this_program_in_shells() -> HookCommand {
    let me = std::env::current_exe().unwrap();
    HookCommand::shell(format!("sh -c '\"{}\" {}; :'; :", me.display(), ACT_ARGUMENTS.join(" ")))
}

/// The result that [`act`] printed, or a description of the failure.
fn result(reply: &RunOutput) -> String {
    let printed = text(&reply.stdout.bytes);
    // The test harness may print on the same line before the result.
    let result = printed.lines().find_map(|line| line.split_once("ACT: ")).map(|(_, result)| result.to_owned());
    result.unwrap_or_else(|| {
        format!("{:?} {:?} {printed} {}", reply.exit, reply.limit_exceeded, text(&reply.stderr.bytes))
    })
}

async fn run_sandboxed(program: HookCommand, place: &ExecContext, sandbox: &Sandbox) -> Result<RunOutput, RunError> {
    run(program, &place.clone().sandbox(sandbox.clone()), &Stdin::none(), &limits()).await
}

/// Returns `true` if this kernel can restrict files. Otherwise the test is skipped.
async fn can_restrict_files() -> bool {
    let place = ExecContext::new("/").env([("PATH", path())]).sandbox(Sandbox::new().files(Files::none()));
    match run(HookCommand::argv(["true"]), &place, &Stdin::none(), &limits()).await {
        Ok(reply) => {
            assert_eq!(reply.exit, Exit::Exited(0), "{}", text(&reply.stderr.bytes));
            true
        }
        Err(RunError::Sandbox {
            problem: problem @ (SandboxError::NoLandlock | SandboxError::OldLandlock { .. }),
            ..
        }) => {
            common::skip("landlock", problem);
            false
        }
        Err(other) => panic!("{other}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn file_access_is_restricted() {
    if !can_restrict_files().await {
        return;
    }
    let world = World::new();
    let (project, everything) = (world.at("project"), "/");
    let nothing = Files::none();
    let reads = Files::none().read(&project);
    let writes = Files::none().write(&project);
    let reads_all = Files::none().read(everything).write(&project);
    let (yes, no) = ("ok", "PermissionDenied");
    // Landlock reports a link out of an allowed directory as a link between file systems.
    let far = "CrossesDevices";
    script(Path::new(&world.at("outside/program")), "#!/bin/sh\n:");
    #[rustfmt::skip]
    let rows = [
        ("read", "project/file", [no, yes, yes, yes]),
        ("list", "project", [no, yes, yes, yes]),
        ("write", "project/file", [no, no, yes, yes]),
        ("write", "project/new", [no, no, yes, yes]),
        ("cut", "project/file", [no, no, yes, yes]),
        ("make directory", "project/new", [no, no, yes, yes]),
        ("link", "project/new", [no, no, yes, yes]),
        ("read", "outside/file", [no, no, no, yes]),
        ("list", "outside", [no, no, no, yes]),
        ("execute", "outside/program", [no, no, no, yes]),
        ("write", "outside/file", [no; 4]),
        ("write", "outside/new", [no; 4]),
        ("cut", "outside/file", [no; 4]),
        ("remove", "outside/file", [no; 4]),
        ("make directory", "outside/new", [no; 4]),
        ("link", "outside/new", [no; 4]),
        ("hard link", "outside/file", [far; 4]),
        ("move away", "outside/file", [no; 4]),
        ("chmod", "outside/file", [no; 4]),
        ("fchmod", "outside/file", [no; 4]),
        ("chmod", "project/file", [no; 4]),
        ("set time", "outside/file", [no; 4]),
        ("temporary", "", [yes; 4]),
        ("nothing", "", [yes; 4]),
    ];
    for (act, at, expected) in rows {
        for (files, expected) in [&nothing, &reads, &writes, &reads_all].into_iter().zip(expected) {
            for program in [this_program(), this_program_in_shells()] {
                for new in ["project/new", "project/new.directory", "project/new.link"] {
                    let _ = fs::remove_file(world.at(new)).or_else(|_| fs::remove_dir(world.at(new)));
                }
                let place = world.place(act, &world.at(at));
                let reply = run_sandboxed(program, &place, &Sandbox::new().files(files.clone())).await.unwrap();
                let result = result(&reply);
                // The kernel may report either of two errors.
                let same = result == expected || (expected == far && result == no);
                assert!(same, "{act} {at} with {files:?}: {result}, not {expected}");
            }
        }
    }
    assert_eq!(fs::read_to_string(world.at("outside/file")).unwrap(), "before");
    assert_eq!(fs::metadata(world.at("outside/file")).unwrap().permissions().mode() & 0o111, 0);
}

/// Landlock is missing in the kernel, disabled at boot, or blocked by a container.
#[test]
fn file_sandbox_fails_without_landlock() {
    for error in [libc::ENOSYS, libc::EOPNOTSUPP, libc::EPERM] {
        common::without_calls(&[libc::SYS_landlock_create_ruleset], error, || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let place = ExecContext::new("/").env([("PATH", path())]);
            let ran = |sandbox: Sandbox| runtime.block_on(run_sandboxed(HookCommand::argv(["true"]), &place, &sandbox));
            let refused = ran(Sandbox::new().files(Files::none()));
            assert!(
                matches!(&refused, Err(RunError::Sandbox { problem: SandboxError::NoLandlock, .. })),
                "{refused:?}"
            );
            assert!(ran(Sandbox::new()).unwrap().exit.success());
        });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn path_does_not_open_directories_of_a_home() {
    if !can_restrict_files().await {
        return;
    }
    let world = World::new();
    fs::create_dir_all(world.at("home/.ssh")).unwrap();
    fs::create_dir_all(world.at("home/bin")).unwrap();
    fs::write(world.at("home/.ssh/id"), "secret").unwrap();
    script(Path::new(&world.at("home/bin/mine")), "#!/bin/sh\ncat \"$HOME/.ssh/id\"; echo ran");
    let place = ExecContext::new(world.at("project"))
        .env([("PATH", format!("{}:{}", world.at("home/bin"), path())), ("HOME", world.at("home"))]);
    let files = Files::none().read(world.at("project"));
    let with_programs = files.clone().read(world.at("home/bin"));
    let (own, shell) = (HookCommand::argv(["mine"]), HookCommand::shell("mine | cat"));
    // The program of the command itself is readable, others need their directory in the list.
    for (program, files, runs) in [
        (own.clone(), &files, true),
        (own, &with_programs, true),
        (shell.clone(), &files, false),
        (shell, &with_programs, true),
    ] {
        let reply = run_sandboxed(program, &place, &Sandbox::new().files(files.clone())).await.unwrap();
        assert_eq!(text(&reply.stdout.bytes), if runs { "ran\n" } else { "" });
        assert!(text(&reply.stderr.bytes).to_lowercase().contains("permission denied"), "{reply:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn network_access_is_restricted() {
    let world = World::new();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let _unix = UnixListener::bind(world.at("stream")).unwrap();
    let _datagrams = UnixDatagram::bind(world.at("datagrams")).unwrap();
    let (yes, no) = ("ok", "PermissionDenied");
    let mut sandboxes = vec![(Sandbox::new(), 0), (Sandbox::new().allow_network(), 2)];
    if can_restrict_files().await {
        let files = Files::none().write(world.dir.path());
        sandboxes.push((Sandbox::new().files(files.clone()), 0));
        sandboxes.push((Sandbox::new().files(files).allow_network(), 1));
    }
    let rows = [
        ("tcp", tcp.local_addr().unwrap().to_string(), [no, yes, yes]),
        ("listen", String::new(), [no, yes, yes]),
        ("udp", udp.local_addr().unwrap().to_string(), [no, yes, yes]),
        ("unix", world.at("stream"), [no, no, yes]),
        ("unix datagram", world.at("datagrams"), [no, no, yes]),
        ("turned pair", world.at("datagrams"), [no, no, yes]),
        ("pair", String::new(), [yes; 3]),
    ];
    for (act, at, expected) in &rows {
        for (sandbox, column) in &sandboxes {
            for program in [this_program(), this_program_in_shells()] {
                let reply = run_sandboxed(program, &world.place(act, at), sandbox).await.unwrap();
                assert_eq!(result(&reply), expected[*column], "{act} with {sandbox:?}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn escapes_and_privileges_are_blocked() {
    let world = World::new();
    let sandbox = Sandbox::new().open_files(100);
    for act in [
        "setsid",
        "setpgid",
        "namespace",
        "raise a limit",
        "renice parent",
        "renice user",
        "set affinity of parent",
        "set scheduler of parent",
        "set I/O priority of parent",
        "set I/O priority of user",
    ] {
        for program in [this_program(), this_program_in_shells()] {
            let reply = run_sandboxed(program, &world.place(act, ""), &sandbox).await.unwrap();
            assert_eq!(result(&reply), "PermissionDenied", "{act}");
        }
    }
    let reply = run_sandboxed(this_program(), &world.place("renice itself", ""), &sandbox).await.unwrap();
    assert_eq!(result(&reply), "ok");
    let reply =
        run_sandboxed(HookCommand::argv(["cat", "/proc/self/status"]), &world.place("", ""), &sandbox).await.unwrap();
    let status = text(&reply.stdout.bytes);
    let field = |name: &str| {
        let line =
            status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{name}: {status}"));
        line.trim().to_owned()
    };
    assert_eq!(field("NoNewPrivs:"), "1");
    assert_eq!(field("Seccomp:"), "2");
    for set in ["CapEff:", "CapPrm:", "CapInh:", "CapAmb:"] {
        let kept = u64::from_str_radix(&field(set), 16).unwrap();
        assert_eq!(kept & !0b1_1111, 0, "{set} {kept:x}");
    }
    // Signals have the state of a new process.
    assert_eq!(field("SigBlk:"), "0000000000000000");
    let ignored = u64::from_str_radix(&field("SigIgn:"), 16).unwrap();
    assert_eq!(ignored & (1 << (libc::SIGPIPE - 1)), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn signals_to_the_host_are_blocked() {
    let world = World::new();
    let reply = run_sandboxed(this_program(), &world.place("signal the host", ""), &Sandbox::new()).await.unwrap();
    // Kernels before 6.12 cannot block them.
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let numbers: Vec<u32> = release.split(['.', '-']).take(2).filter_map(|part| part.parse().ok()).collect();
    match &numbers[..] {
        [major, minor] if (*major, *minor) >= (6, 12) && can_restrict_files().await => {
            assert_eq!(result(&reply), "PermissionDenied");
        }
        _ => common::skip("signal-scope", format!("Linux {release} cannot block signals to the host")),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn environment_of_the_host_is_not_readable() {
    if !can_restrict_files().await {
        return;
    }
    let world = World::new();
    let sandbox = Sandbox::new().files(Files::none().read("/"));
    let reply = run_sandboxed(this_program(), &world.place("environment of the host", ""), &sandbox).await.unwrap();
    assert_eq!(result(&reply), "PermissionDenied");
}

#[tokio::test(flavor = "multi_thread")]
async fn descriptors_of_the_host_are_closed() {
    // A descriptor without the close-on-exec flag.
    let file = fs::File::open("/dev/null").unwrap();
    let open = rustix::io::fcntl_dupfd_cloexec(&file, 50).unwrap();
    rustix::io::fcntl_setfd(&open, rustix::io::FdFlags::empty()).unwrap();
    for stdin in [Stdin::none(), Stdin::bytes("x"), Stdin::bytes(vec![0; 1 << 20])] {
        let place = common::place("/").sandbox(Sandbox::new());
        let reply = run(HookCommand::argv(["ls", "/proc/self/fd"]), &place, &stdin, &limits()).await.unwrap();
        // The last is the listed directory.
        assert_eq!(text(&reply.stdout.bytes), "0\n1\n2\n3\n");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn open_files_and_file_size_are_limited() {
    let world = World::new();
    let reply =
        run_sandboxed(this_program(), &world.place("open files", ""), &Sandbox::new().open_files(40)).await.unwrap();
    let opened = result(&reply);
    let opened: u32 = opened.strip_prefix("opened ").unwrap_or_else(|| panic!("{opened}")).parse().unwrap();
    assert!((10..40).contains(&opened), "{opened}");

    let at = world.at("project/large");
    let sandbox = Sandbox::new().file_size(1 << 20);
    let reply = run_sandboxed(this_program(), &world.place("large file", &at), &sandbox).await.unwrap();
    assert_eq!(reply.limit_exceeded, Some(LimitExceeded::FileSize(1 << 20)), "{}", result(&reply));
    assert!(fs::metadata(&at).unwrap().len() <= 1 << 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_is_limited() {
    let world = World::new();
    let most = 256 << 20;
    let reply =
        run_sandboxed(this_program(), &world.place("allocate", ""), &Sandbox::new().memory(most)).await.unwrap();
    // Either the limit of the process or the monitor stopped it.
    let had = result(&reply);
    let small =
        had.strip_prefix("had ").and_then(|had| had.strip_suffix(" MiB")).map(|had| had.parse::<u64>().unwrap());
    assert!(small.is_some_and(|had| had <= 256) || reply.limit_exceeded == Some(LimitExceeded::Memory(most)), "{had}");

    let reply = run_sandboxed(this_program(), &world.place("share", ""), &Sandbox::new().memory(most)).await.unwrap();
    assert_eq!(reply.limit_exceeded, Some(LimitExceeded::Memory(most)), "{}", result(&reply));
    assert!(!reply.timed_out);
}

#[tokio::test(flavor = "multi_thread")]
async fn cpu_time_is_limited() {
    let world = World::new();
    let sandbox = Sandbox::new().cpu(Duration::from_secs(1));
    let reply = run_sandboxed(this_program(), &world.place("burn", ""), &sandbox).await.unwrap();
    assert_eq!(
        (reply.limit_exceeded, reply.timed_out),
        (Some(LimitExceeded::Cpu(Duration::from_secs(1))), false),
        "{}",
        result(&reply)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn fork_bomb_is_killed_at_the_process_limit() {
    let world = World::new();
    let tag = Tag::new();
    let shells = "f() { [ $1 = 0 ] || f $(($1 - 1)) | f $(($1 - 1)) & sleep 100; }; f 8";
    for program in [this_program(), HookCommand::shell(shells)] {
        let place = tag.place(world.at("project")).add_env([(ACT, "multiply")]);
        let reply = run_sandboxed(program, &place, &Sandbox::new().processes(20)).await.unwrap();
        assert_eq!(
            (reply.limit_exceeded, reply.timed_out),
            (Some(LimitExceeded::Processes(20)), false),
            "{}",
            result(&reply)
        );
        assert_eq!(tag.living(), Vec::<String>::new());
        assert!(reply.leftovers.iter().all(|left| left.ended));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn timeout_ends_all_sandboxed_processes() {
    let world = World::new();
    for (name, text) in common::ENDLESS {
        let tag = Tag::new();
        let place = tag.place(world.at("project")).sandbox(Sandbox::new().processes(50));
        let limits = Limits::new(Duration::from_millis(300)).term_grace(Duration::from_millis(20));
        let reply = run(HookCommand::shell(tag.text(text)), &place, &Stdin::none(), &limits).await.unwrap();
        assert_eq!(tag.living(), Vec::<String>::new(), "{name} {reply:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn common_programs_work_in_a_sandbox() {
    if !can_restrict_files().await {
        return;
    }
    let world = World::new();
    fs::write(world.at("project/data.json"), r#"{"a": 1}"#).unwrap();
    fs::create_dir(world.at("home")).unwrap();
    fs::write(world.at("home/.gitconfig"), "[user]\n").unwrap();
    let _ = Command::new("git").args(["init", "-q"]).arg(world.at("project")).status();
    let sandbox = Sandbox::new()
        .files(Files::none().read(world.at("project")))
        .cpu(Duration::from_secs(60))
        .memory(1 << 30)
        .processes(64)
        .open_files(256)
        .file_size(256 << 20);
    let place = ExecContext::new(world.at("project"))
        .env([("PATH", "/usr/local/bin:/usr/bin:/bin"), ("HOME", &world.at("home"))]);
    #[rustfmt::skip]
    let rows = [
        ("cat", "cat", "in"),
        ("sh", "cat /dev/stdin | tr i o", "on"),
        ("sh", "read -r line; echo \"$line\" > /dev/stdout; echo gone > /dev/null", "in\n"),
        ("sh", "grep -c . data.json", "1\n"),
        ("mktemp", "f=$(mktemp) && cat > \"$f\" && cat \"$f\" && case $f in $TMPDIR/*) ;; *) exit 9 ;; esac", "in"),
        ("bash", "bash -c 'cat <(echo yes) <<< no'", "yes\n"),
        ("awk", "awk '{ print $1 \"!\" }'", "in!\n"),
        ("sed", "sed s/i/o/", "on"),
        ("sed", "cp data.json $TMPDIR/d && sed -i s/a/b/ $TMPDIR/d 2>/dev/null; cat $TMPDIR/d", r#"{"b": 1}"#),
        ("jq", "jq .a data.json", "1\n"),
        ("perl", "perl -e 'print 6 * 7'", "42"),
        ("python3", "python3 -c 'import json; print(json.load(open(\"data.json\"))[\"a\"])'", "1\n"),
        ("python3", "python3 -c 'import subprocess as s; print(s.check_output([\"echo\", \"x\"]).decode(), end=\"\")'", "x\n"),
        ("node", "node -e 'console.log(JSON.parse(require(\"fs\").readFileSync(\"data.json\")).a)'", "1\n"),
        ("node", "node -e 'console.log(require(\"child_process\").execSync(\"echo x\") + \"\")'", "x\n\n"),
        ("git", "git status --porcelain", "?? data.json\n?? file\n"),
        ("timeout", "timeout --foreground 0.05 sleep 100; echo $?", "124\n"),
    ];
    for (program, line, expected) in rows {
        let is_there = ["/usr/local/bin", "/usr/bin", "/bin"].iter().any(|dir| Path::new(dir).join(program).exists());
        if !is_there {
            common::skip(program, format!("no {program}"));
            continue;
        }
        let place = place.clone().sandbox(sandbox.clone());
        let reply = run(HookCommand::shell(line), &place, &Stdin::bytes("in"), &limits()).await.unwrap();
        let printed = (text(&reply.stdout.bytes), reply.exit);
        assert_eq!(
            printed,
            (expected, Exit::Exited(0)),
            "{line}: {} {:?}",
            text(&reply.stderr.bytes),
            reply.limit_exceeded
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn temporary_directory_is_private_and_removed() {
    if !can_restrict_files().await {
        return;
    }
    let place = common::place("/").add_env([("TMPDIR", "/elsewhere")]).sandbox(Sandbox::new().files(Files::none()));
    let line = "stat -c %a \"$TMPDIR\"; echo \"$TMPDIR\"; mkdir -p \"$TMPDIR/a/b\"; echo x > \"$TMPDIR/a/b/c\"";
    let reply = run(HookCommand::shell(line), &place, &Stdin::none(), &limits()).await.unwrap();
    let printed = text(&reply.stdout.bytes);
    let (mode, path) = printed.trim_end().split_once('\n').unwrap();
    assert_eq!(mode, "700");
    assert!(Path::new(path).starts_with(std::env::temp_dir()), "{path}");
    assert!(checkrein_process::reap_dropped(common::SOON));
    assert!(!Path::new(path).exists(), "{path}");
}

/// `file_size` also limits the sum, in every way to spread it.
#[tokio::test(flavor = "multi_thread")]
async fn size_of_the_temporary_directory_is_limited() {
    if !can_restrict_files().await {
        return;
    }
    let most = 1 << 20;
    let fill = "head -c 300000 /dev/zero >";
    for line in [
        format!("cd $TMPDIR; for i in 1 2 3 4 5; do {fill} $i; done; sleep 600"),
        format!("cd $TMPDIR; for i in 1 2 3 4 5; do mkdir d; cd d; {fill} f; done; sleep 600"),
        "cd $TMPDIR; for i in $(seq 400); do : > $i; done; sleep 600".to_owned(),
        format!("cd $TMPDIR; for i in 4 5 6 7 8; do eval \"exec $i>f\"; {fill} f; rm f; done; sleep 600"),
    ] {
        let place = common::place("/").sandbox(Sandbox::new().files(Files::none()).file_size(most));
        let reply = run(HookCommand::shell(&line), &place, &Stdin::none(), &limits()).await.unwrap();
        assert_eq!(reply.limit_exceeded, Some(LimitExceeded::Temporary(most)), "{line}: {}", text(&reply.stderr.bytes));
        assert!(!reply.timed_out, "{line}");
    }
    let line = format!("cd $TMPDIR; for i in 1 2 3; do {fill} $i; done; sleep 0.3");
    let place = common::place("/").sandbox(Sandbox::new().files(Files::none()).file_size(most));
    let reply = run(HookCommand::shell(&line), &place, &Stdin::none(), &limits()).await.unwrap();
    assert_eq!((reply.limit_exceeded, reply.exit), (None, Exit::Exited(0)));
    assert!(checkrein_process::reap_dropped(common::SOON));
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_start_in_a_sandbox_is_reported() {
    if !can_restrict_files().await {
        return;
    }
    let world = World::new();
    let interpreter = world.at("outside/interpreter");
    fs::copy("/bin/sh", &interpreter).unwrap();
    script(Path::new(&world.at("project/script")), &format!("#!{interpreter}\necho ran"));
    let place = world.place("", "");
    let sandbox = Sandbox::new().files(Files::none().read(world.at("project")));
    let error = run_sandboxed(HookCommand::argv(["./script"]), &place, &sandbox).await.unwrap_err();
    assert!(matches!(&error, RunError::Sandbox { problem: SandboxError::OutOfReach { .. }, .. }), "{error:?}");
    assert!(error.to_string().contains("the sandbox does not allow `"), "{error}");
    // Other errors are the same as without a sandbox.
    let gone = place.clone().with_cwd(world.at("nowhere"));
    let error = run_sandboxed(HookCommand::argv(["/bin/true"]), &gone, &sandbox).await.unwrap_err();
    assert!(matches!(error, RunError::Cwd { .. }), "{error:?}");
    fs::write(world.at("project/empty"), "").unwrap();
    fs::set_permissions(world.at("project/empty"), fs::Permissions::from_mode(0o755)).unwrap();
    let error = run_sandboxed(HookCommand::argv(["./empty"]), &place, &sandbox).await.unwrap_err();
    assert!(matches!(error, RunError::NotAProgram { .. }), "{error:?}");
}

/// Each run resolves its paths again.
#[tokio::test]
async fn rules_apply_to_the_current_target_of_a_path() {
    if !can_restrict_files().await {
        return;
    }
    let dir = TempDir::new().unwrap();
    let (project, link) = (dir.path().join("project"), dir.path().join("link"));
    fs::create_dir(dir.path().join("one")).unwrap();
    fs::create_dir(dir.path().join("two")).unwrap();
    std::os::unix::fs::symlink("one", &link).unwrap();
    let files = Files::none().write(&project).write(&link);
    let place = ExecContext::new("/").env([("PATH", "/usr/bin:/bin")]).sandbox(Sandbox::new().files(files));
    let write = |at: &Path| HookCommand::shell(format!("echo x > '{}/file'", at.display()));
    for round in 0..3 {
        fs::create_dir(&project).unwrap();
        let reply = run(write(&project), &place, &Stdin::none(), &limits()).await.unwrap();
        assert!(reply.exit.success(), "round {round}: {}", text(&reply.stderr.bytes));
        fs::rename(&project, dir.path().join(format!("old-{round}"))).unwrap();
    }
    // The replaced directory and the previous target of a link are not allowed any more.
    fs::create_dir(&project).unwrap();
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("two", &link).unwrap();
    for (at, fine) in [("old-0", false), ("one", false), ("two", true), ("project", true)] {
        let reply = run(write(&dir.path().join(at)), &place, &Stdin::none(), &limits()).await.unwrap();
        assert_eq!(reply.exit.success(), fine, "{at}: {}", text(&reply.stderr.bytes));
    }
}
