//! PostgreSQL for tests: real servers in temporary folders, which are removed.
//!
//! [`database`] gives a new, empty database in a cluster that all tests of a run share: the first
//! that asks starts it, and it ends with the run. [`Cluster`] is one of a test's own, to be stopped,
//! paused and broken.
//!
//! PostgreSQL refuses to run as root; where the tests are root, it runs as another user. A server
//! listens on a free port of this machine, and on a socket in its folder, and asks for no password
//! unless a test makes it: to prove that one is known takes a while, by design. Every commit waits for
//! the disk, as it would anywhere.

use std::fs::{self, File};
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::parent_id;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The superuser's password: in the files of the tests, and good for nothing else.
const PASSWORD: &str = "only-for-tests";

/// How long a server may take to start, or to end.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// The URL of a new, empty database in the cluster of this run.
pub fn database() -> String {
    loaded("")
}

/// The URL of a new database in the cluster of this run that holds what some SQL says.
pub fn loaded(content: &str) -> String {
    static DATABASES: AtomicU32 = AtomicU32::new(0);
    let port = shared_port();
    let number = DATABASES.fetch_add(1, Ordering::Relaxed);
    let name = format!("test_{}_{number}", std::process::id());
    let folder = shared_folder();
    let create = format!("CREATE DATABASE {name}");
    sql(&folder, port, "postgres", &create);
    if !content.is_empty() {
        sql(&folder, port, &name, content);
    }
    url(port, &name)
}

/// Runs SQL in a database of the cluster of this run, and returns what it prints.
pub fn execute(url: &str, content: &str) -> String {
    let name = url.rsplit('/').next().unwrap_or_default();
    sql(&shared_folder(), shared_port(), name, content)
}

/// What a schema of a database holds, as SQL that every release of PostgreSQL can load.
pub fn dump(url: &str, schema: &str) -> String {
    let mut command = Command::new(program("pg_dump"));
    command.args([
        "--inserts",
        "--no-owner",
        "--no-privileges",
        "--schema",
        schema,
        url,
    ]);
    let output = command.output().expect("pg_dump can be run");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let text = String::from_utf8(output.stdout).expect("pg_dump prints UTF-8");
    // Comments, and settings of which older releases may not know.
    let is_content = |line: &&str| {
        let noise = ["--", "\\", "SET ", "SELECT pg_catalog.set_config"];
        !line.is_empty() && !noise.iter().any(|noise| line.starts_with(noise))
    };
    text.lines()
        .filter(is_content)
        .flat_map(|line| [line, "\n"])
        .collect()
}

/// The cluster of this run has the process number of its runner: of nextest, or of cargo.
fn shared_folder() -> PathBuf {
    std::env::temp_dir().join(format!("adk-stream-tests-{}", parent_id()))
}

/// Where the cluster of this run listens. Starts it if it is not there.
fn shared_port() -> u16 {
    let folder = shared_folder();
    // Beside the folder, which comes and goes.
    let lock = File::create(folder.with_extension("lock")).expect("a lock file can be made");
    lock.lock().expect("a file can be locked");
    let port = || {
        let port = fs::read_to_string(folder.join("port")).ok()?;
        is_ready(&folder)
            .then(|| port.trim().parse().ok())
            .flatten()
    };
    if let Some(port) = port() {
        return port;
    }
    // What an interrupted start left.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).expect("a folder can be made");
    initialise(&folder);
    for _ in 0..5 {
        let port = free_port();
        start_shared(&folder, port);
        if becomes_ready(&folder) {
            fs::write(folder.join("port"), port.to_string()).expect("a file can be written");
            return port;
        }
    }
    panic!("PostgreSQL does not start: {}", log(&folder));
}

/// Starts a server that ends when the run does, whatever becomes of this process.
fn start_shared(folder: &Path, port: u16) {
    let guard = r#"
        "$@" & server=$!
        while kill -0 "$RUN" && kill -0 "$server"; do sleep 0.2; done
        kill -QUIT "$server"
        wait "$server"
        kill -0 "$RUN" || rm -rf "$FOLDER" "$FOLDER.lock"
    "#;
    let mut command = Command::new("setsid");
    command
        .args(["--fork", "sh", "-c", guard, "sh"])
        .args(server(folder, port));
    command
        .env("RUN", parent_id().to_string())
        .env("FOLDER", folder);
    // It must hold on to nothing of the test, which would look as if it had not ended.
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().expect("setsid can be run");
}

/// A server of a test's own. Dropping it ends it.
pub struct Cluster {
    folder: TempDir,
    port: u16,
    postmaster: Child,
}

impl Cluster {
    /// Starts a server.
    pub fn start() -> Self {
        Self::start_with(|_| {})
    }

    /// Starts a server whose data folder is changed before.
    pub fn start_with(change: impl FnOnce(&Path)) -> Self {
        let folder = TempDir::new().expect("a folder can be made");
        initialise(folder.path());
        change(&folder.path().join("data"));
        own(&folder.path().join("data"));
        Self::start_in(folder)
    }

    /// Starts a server that has a data folder.
    fn start_in(folder: TempDir) -> Self {
        // A port that was free may be taken by the time that it is used.
        for _ in 0..5 {
            let port = free_port();
            if let Some(postmaster) = spawn(folder.path(), port) {
                return Self {
                    folder,
                    port,
                    postmaster,
                };
            }
        }
        panic!("PostgreSQL does not start: {}", log(folder.path()));
    }

    /// Starts a standby that follows this server. Every commit waits from here on until a standby has
    /// it, so that nothing is lost by a promotion.
    pub fn standby(&self) -> Self {
        let folder = TempDir::new().expect("a folder can be made");
        own(folder.path());
        let mut command = as_user(folder.path(), &program("pg_basebackup"), &[]);
        command.args(["--write-recovery-conf", "--no-sync", "--checkpoint=fast"]);
        command.arg("--pgdata").arg(folder.path().join("data"));
        command.args(["--dbname", &self.url("postgres")]);
        run(&mut command);
        let standby = Self::start_in(folder);
        self.wait_for_standbys("*");
        standby
    }

    /// Has commits wait for these standbys (`*`), or for none.
    pub fn wait_for_standbys(&self, names: &str) {
        let set = format!("ALTER SYSTEM SET synchronous_standby_names = '{names}'");
        self.sql("postgres", &set);
        self.sql("postgres", "SELECT pg_reload_conf()");
    }

    /// Makes a standby a primary, and waits until it is one.
    pub fn promote(&self) {
        let promoted = self.sql("postgres", "SELECT pg_promote()");
        assert_eq!(promoted.trim(), "t", "{}", log(self.folder.path()));
    }

    /// The URL of a new, empty database.
    pub fn database(&self, name: &str) -> String {
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        self.url(name)
    }

    /// The URL of a database, whether it is there or not.
    pub fn url(&self, database: &str) -> String {
        url(self.port, database)
    }

    /// Where it listens on this machine.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Runs SQL as the superuser, by psql, and returns what it prints.
    pub fn sql(&self, database: &str, sql: &str) -> String {
        self::sql(self.folder.path(), self.port, database, sql)
    }

    /// Ends it as a crash would: at once, without a shutdown.
    pub fn crash(&mut self) {
        signal("QUIT", &[self.postmaster.id()]);
        self.postmaster.wait().expect("a child can be waited for");
    }

    /// Starts it again.
    pub fn start_again(&mut self) {
        let started = spawn(self.folder.path(), self.port);
        self.postmaster = started.expect("its port is free again");
    }

    /// Freezes it and all its processes, until the answer is dropped.
    pub fn pause(&self) -> Paused {
        let postmaster = self.postmaster.id();
        // First the one that could start more of them.
        signal("STOP", &[postmaster]);
        let mut all = children(postmaster);
        signal("STOP", &all);
        all.push(postmaster);
        Paused(all)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Ok(None) = self.postmaster.try_wait() {
            signal("QUIT", &[self.postmaster.id()]);
            let _ = self.postmaster.wait();
        }
    }
}

/// A frozen server. Dropping it lets it continue.
pub struct Paused(Vec<u32>);

impl Drop for Paused {
    fn drop(&mut self) {
        signal("CONT", &self.0);
    }
}

fn url(port: u16, database: &str) -> String {
    format!("postgres://postgres:{PASSWORD}@127.0.0.1:{port}/{database}")
}

/// Makes a data folder.
fn initialise(folder: &Path) {
    let password = folder.join("password");
    fs::write(&password, PASSWORD).expect("a file can be written");
    own(folder);
    let mut command = as_user(folder, &program("initdb"), &[]);
    command.arg("--pgdata").arg(folder.join("data"));
    command.arg("--pwfile").arg(password);
    let options = "--username=postgres --auth=trust --no-sync \
                   --encoding=UTF8 --locale=C";
    run(command.args(options.split_whitespace()));
}

/// The command that is a server, and ends with its parent.
fn server(folder: &Path, port: u16) -> Vec<String> {
    let data = folder.join("data").display().to_string();
    let log = folder.join("log").display().to_string();
    let settings = [
        "listen_addresses=127.0.0.1".to_owned(),
        format!("port={port}"),
        format!("unix_socket_directories={}", folder.display()),
        "fsync=on".to_owned(),
        "max_connections=300".to_owned(),
    ];
    let mut command = user();
    let guarded = [
        "sh",
        "-c",
        r#"log=$1; shift; exec "$@" >>"$log" 2>&1"#,
        "sh",
    ];
    command.extend(guarded.map(str::to_owned));
    command.extend([log, program("postgres"), "-D".to_owned(), data]);
    for setting in settings {
        command.extend(["-c".to_owned(), setting]);
    }
    command
}

fn spawn(folder: &Path, port: u16) -> Option<Child> {
    let command = server(folder, port);
    let mut child = Command::new(&command[0])
        .args(&command[1..])
        .stdin(Stdio::null())
        .spawn()
        .expect("PostgreSQL can be started");
    if becomes_ready(folder) {
        return Some(child);
    }
    let _ = child.kill();
    let _ = child.wait();
    None
}

/// Waits until a server has started, or has found its port taken.
fn becomes_ready(folder: &Path) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < TIME_LIMIT {
        if is_ready(folder) {
            return true;
        }
        if log(folder).contains("could not create any TCP/IP sockets") {
            // Or the next start would take it for its own.
            let _ = fs::remove_file(folder.join("log"));
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

/// Whether a server says of itself that it is ready, and lives.
fn is_ready(folder: &Path) -> bool {
    let status = fs::read_to_string(folder.join("data/postmaster.pid")).unwrap_or_default();
    let mut lines = status.lines();
    let process = lines.next().unwrap_or_default();
    let is_alive = !process.is_empty() && Path::new("/proc").join(process).exists();
    let is_open = |line: &str| matches!(line.trim(), "ready" | "standby");
    is_alive && lines.nth(6).is_some_and(is_open)
}

fn log(folder: &Path) -> String {
    fs::read_to_string(folder.join("log")).unwrap_or_default()
}

/// Runs SQL as the superuser, over the socket.
fn sql(folder: &Path, port: u16, database: &str, sql: &str) -> String {
    let mut command = Command::new(program("psql"));
    command.args(["-XqtA", "-v", "ON_ERROR_STOP=1", "-U", "postgres"]);
    command
        .arg("-h")
        .arg(folder)
        .args(["-p", &port.to_string()]);
    command
        .args(["-d", database, "-f", "-"])
        .stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("psql can be run");
    let mut input = child.stdin.take().expect("it was asked for");
    input.write_all(sql.as_bytes()).expect("psql reads");
    drop(input);
    let output = child.wait_with_output().expect("psql can be waited for");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{sql}: {errors}");
    String::from_utf8(output.stdout).expect("psql prints UTF-8")
}

/// A port that nobody has at the moment.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    listener.local_addr().expect("it has one").port()
}

/// Where Debian keeps the servers, off PATH; the newest, if there are several. Elsewhere, on PATH.
fn program(name: &str) -> String {
    let versions = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten();
    let mut versions: Vec<_> = versions
        .filter_map(|version| {
            let path = version.path().join("bin").join(name);
            let number: u32 = version.file_name().to_str()?.parse().ok()?;
            path.exists().then_some((number, path))
        })
        .collect();
    versions.sort();
    let newest = versions.pop().map(|(_, path)| path.display().to_string());
    newest.unwrap_or_else(|| name.to_owned())
}

/// The prefix of a command that is run by a user who is not root, and ends with its
/// parent.
fn user() -> Vec<String> {
    let mut command = vec!["setpriv".to_owned(), "--pdeathsig=QUIT".to_owned()];
    if let Some((user, group)) = unprivileged_user() {
        command.push(format!("--reuid={user}"));
        command.push(format!("--regid={group}"));
        command.push("--clear-groups".to_owned());
    }
    command
}

fn as_user(folder: &Path, program: &str, arguments: &[&str]) -> Command {
    let user = user();
    let mut command = Command::new(&user[0]);
    command.args(&user[1..]).arg(program).args(arguments);
    command.current_dir(folder).stdin(Stdio::null());
    command
}

/// Who is to run PostgreSQL where we are root: user and group, as numbers.
fn unprivileged_user() -> Option<(String, String)> {
    if !is_root() {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").expect("there are users");
    let find = |name: &str| {
        let line = users
            .lines()
            .find(|line| line.starts_with(&format!("{name}:")))?;
        let mut fields = line.split(':').skip(2);
        Some((fields.next()?.to_owned(), fields.next()?.to_owned()))
    };
    find("postgres").or_else(|| find("nobody"))
}

/// Whether this process may do anything.
fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// Gives files to the user that runs PostgreSQL.
fn own(path: &Path) {
    if let Some((user, group)) = unprivileged_user() {
        let mut command = Command::new("chown");
        run(command.arg("-R").arg(format!("{user}:{group}")).arg(path));
    }
}

fn run(command: &mut Command) {
    let output = command.output().expect("a command can be run");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
}

/// Sends a signal to processes that this test started.
fn signal(name: &str, processes: &[u32]) {
    let processes: Vec<_> = processes.iter().map(u32::to_string).collect();
    // A shell's own kill is there even where no `kill` program is. One that has ended is no matter.
    let command = format!("kill -{name} {} 2>/dev/null", processes.join(" "));
    let _ = Command::new("sh").args(["-c", &command]).status();
}

/// The processes that a process has started.
fn children(parent: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|process| {
            let id: u32 = process.file_name().to_str()?.parse().ok()?;
            let status = fs::read_to_string(process.path().join("status")).ok()?;
            let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
            (line.trim() == parent.to_string()).then_some(id)
        })
        .collect()
}
