//! The address of a PostgreSQL, and how to connect to it: a URL, parsed and checked once.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use super::lineage::{KnownServers, Lineage};
use super::search::PrimarySearch;
use crate::error::StoreError;

/// How many connections one store has at most by default: one that writes, one that listens,
/// and the rest that read.
const CONNECTIONS: usize = 8;

/// How long a database may be away before requests fail, by default.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// How many connections there have to be: one that writes, one that listens, one that reads.
const FEWEST: usize = 3;

/// The address of a PostgreSQL: `postgres://USER:PASSWORD@HOST:PORT/DATABASE?OPTIONS`.
///
/// Several hosts are asked side by side, and a standby is never used.
///
/// The options are libpq's as far as tokio-postgres knows them (`host`, `port`, several of both,
/// `target_session_attrs`, `connect_timeout`, `keepalives_idle`, `application_name`, …), and:
///
/// - `sslmode`: `disable`; `prefer` (the default) and `require` encrypt and accept any certificate,
///   as libpq does; `verify-full` checks the certificate and its name.
/// - `sslrootcert`: a PEM file of the roots to check against, in place of the system's. With it,
///   certificates are checked whenever there is TLS.
/// - `pool_max_conns`: how many connections there are at most, 8 if it is not said, at least 3.
///
/// It holds a password, and never prints it.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresUrl {
    pub(super) config: Config,
    pub(super) verifies: bool,
    pub(super) roots: Option<PathBuf>,
    pub(super) connections: usize,
    pub(super) time_limit: Duration,
    /// What was seen of its servers. Clones share it.
    pub(super) servers: KnownServers,
    /// Who looks for the primary. Clones share it.
    pub(super) search: PrimarySearch,
}

impl PostgresUrl {
    /// How long the database may be away before requests fail: 5 seconds, if this is
    /// not called.
    pub fn with_time_limit(mut self, time_limit: Duration) -> Self {
        self.time_limit = time_limit;
        self
    }

    /// The newest history of the database that was seen by what was opened with this URL or a clone.
    pub fn newest_lineage(&self) -> Option<Lineage> {
        self.servers.newest()
    }

    /// Takes note of a history that another server has seen: servers that follow an older one are not
    /// used any more. What is no copy of the same cluster is ignored, and so is everything as long as
    /// nothing was seen here.
    pub fn observe_lineage(&self, seen: Lineage) {
        let known = self.servers.newest();
        if known.is_some_and(|known| {
            known.system_identifier == seen.system_identifier && known.timeline < seen.timeline
        }) {
            // What is newer than all that was seen is not refused.
            let _ = self.servers.observe(seen, &self.place());
        }
    }

    /// The database, for people: without user and password.
    pub(super) fn place(&self) -> String {
        place(&self.config)
    }

    /// The configuration of each host by itself.
    pub(super) fn hosts(&self) -> Vec<Config> {
        let config = &self.config;
        let (hosts, addresses) = (config.get_hosts(), config.get_hostaddrs());
        let ports = config.get_ports();
        let is_whole = (addresses.is_empty() || addresses.len() == hosts.len())
            && (ports.len() <= 1 || ports.len() == hosts.len());
        if !is_whole {
            // The driver says what is wrong with it.
            return vec![config.clone()];
        }
        let each = hosts.iter().enumerate().map(|(n, host)| {
            let mut config = without_host(config);
            match host {
                Host::Tcp(name) => config.host(name),
                Host::Unix(folder) => config.host_path(folder),
            };
            addresses.get(n).map(|address| config.hostaddr(*address));
            let port = ports.get(n).or(ports.first());
            port.map(|port| config.port(*port));
            config
        });
        each.collect()
    }
}

/// Everything that a configuration says, other than where the server is. The driver can add hosts to a
/// configuration, and take none away.
fn without_host(config: &Config) -> Config {
    let mut copy = Config::new();
    config.get_user().map(|user| copy.user(user));
    config
        .get_password()
        .map(|password| copy.password(password));
    config.get_dbname().map(|name| copy.dbname(name));
    config.get_options().map(|options| copy.options(options));
    let name = config.get_application_name();
    name.map(|name| copy.application_name(name));
    let limit = config.get_connect_timeout();
    limit.map(|limit| copy.connect_timeout(*limit));
    let limit = config.get_tcp_user_timeout();
    limit.map(|limit| copy.tcp_user_timeout(*limit));
    let interval = config.get_keepalives_interval();
    interval.map(|interval| copy.keepalives_interval(interval));
    let retries = config.get_keepalives_retries();
    retries.map(|retries| copy.keepalives_retries(retries));
    copy.ssl_mode(config.get_ssl_mode())
        .ssl_negotiation(config.get_ssl_negotiation())
        .keepalives(config.get_keepalives())
        .keepalives_idle(config.get_keepalives_idle())
        .target_session_attrs(config.get_target_session_attrs())
        .channel_binding(config.get_channel_binding())
        .load_balance_hosts(config.get_load_balance_hosts());
    copy
}

/// A database, for people: without user and password.
pub(super) fn place(config: &Config) -> String {
    let ports = config.get_ports();
    let port = |n: usize| ports.get(n).or(ports.first()).copied().unwrap_or(5432);
    let hosts = config.get_hosts().iter().enumerate();
    let hosts = hosts.map(|(n, host)| match host {
        Host::Tcp(name) => format!("{name}:{}", port(n)),
        Host::Unix(folder) => format!("{}:{}", folder.display(), port(n)),
    });
    let hosts: Vec<_> = hosts.collect();
    let database = config.get_dbname().or(config.get_user());
    format!("{} at {}", database.unwrap_or_default(), hosts.join(","))
}

impl FromStr for PostgresUrl {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        let mut url = Self {
            config: Config::new(),
            verifies: false,
            roots: None,
            connections: CONNECTIONS,
            time_limit: TIME_LIMIT,
            servers: KnownServers::default(),
            search: PrimarySearch::default(),
        };
        // User name and password are not inspected.
        let start = text.find('@').unwrap_or(0);
        let options = text.get(start..).and_then(|rest| rest.find('?'));
        let (address, options) = match options {
            Some(at) => (&text[..start + at], &text[start + at + 1..]),
            None => (text, ""),
        };
        let mut theirs = Vec::new();
        for option in options.split('&').filter(|option| !option.is_empty()) {
            match option.split_once('=') {
                Some(("pool_max_conns", number)) => {
                    let number = number.parse().ok().filter(|number| *number >= FEWEST);
                    url.connections = number
                        .ok_or_else(|| bad(format!("pool_max_conns is a number from {FEWEST}")))?;
                }
                Some(("sslrootcert", path)) => url.roots = Some(unescape(path)?.into()),
                Some(("sslmode", "verify-full")) => {
                    url.verifies = true;
                    theirs.push("sslmode=require");
                }
                Some(("sslmode", "disable" | "prefer" | "require")) => theirs.push(option),
                Some(("sslmode", _)) => {
                    let modes = "sslmode is disable, prefer, require or verify-full";
                    return Err(bad(modes));
                }
                _ => theirs.push(option),
            }
        }
        url.config = match theirs.is_empty() {
            true => address.parse(),
            false => format!("{address}?{}", theirs.join("&")).parse(),
        }
        .map_err(|error| bad(problem(&error)))?;
        if url.config.get_hosts().is_empty() {
            return Err(bad("it names no host"));
        }
        let config = &mut url.config;
        if config.get_application_name().is_none() {
            config.application_name("adk-stream");
        }
        // A server that vanished is noticed, also by a connection that only listens.
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(Duration::from_secs(30));
        }
        config.keepalives_idle(Duration::from_secs(30));
        if config.get_ssl_mode() != SslMode::Disable {
            url.verifies |= url.roots.is_some();
        }
        Ok(url)
    }
}

fn bad(problem: impl Into<String>) -> StoreError {
    let problem = problem.into();
    StoreError::BadUrl { problem }
}

/// What is wrong, in a text that can't hold a password: a name of an option, or nothing at all.
fn problem(error: &tokio_postgres::Error) -> String {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    let cause = cause.unwrap_or_default();
    let name = cause.split('`').nth(1).unwrap_or_default();
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    match cause.split(' ').next() {
        Some("unknown") if is_name => format!("unknown option {name}"),
        Some("invalid") if is_name => format!("invalid value for {name}"),
        _ => "expected postgres://USER:PASSWORD@HOST:PORT/DATABASE".to_owned(),
    }
}

/// Reads `%2F` and the like.
fn unescape(text: &str) -> Result<String, StoreError> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first == b'%' {
            let digits = tail.get(..2).and_then(|two| std::str::from_utf8(two).ok());
            let byte = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
            bytes.push(byte.ok_or_else(|| bad("a % has to be written as %25"))?);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).map_err(|_| bad("an option is not UTF-8"))
}

impl fmt::Debug for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresUrl({})", self.place())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        text.parse::<PostgresUrl>().unwrap_err().to_string()
    }

    #[test]
    fn a_url_says_where() {
        let url: PostgresUrl = "postgres://ann:secret@db.example/chats".parse().unwrap();
        assert_eq!(url.place(), "chats at db.example:5432");
        assert_eq!((url.connections, url.verifies), (8, false));
        let url = "postgresql://ann@a:1,b:2/chats?target_session_attrs=read-write";
        let url: PostgresUrl = url.parse().unwrap();
        assert_eq!(url.place(), "chats at a:1,b:2");
        let url: PostgresUrl = "postgres://ann@%2Frun%2Fpg:6000/chats".parse().unwrap();
        assert_eq!(url.place(), "chats at /run/pg:6000");
    }

    #[test]
    fn our_own_options_are_taken_out() {
        let url = "postgres://ann@h/chats?pool_max_conns=20&sslmode=verify-full&connect_timeout=3\
                   &sslrootcert=%2Fetc%2Fca%20root.pem";
        let url: PostgresUrl = url.parse().unwrap();
        assert_eq!((url.connections, url.verifies), (20, true));
        assert_eq!(url.roots, Some("/etc/ca root.pem".into()));
        assert_eq!(url.config.get_ssl_mode(), SslMode::Require);
        let url: PostgresUrl = "postgres://ann@h/chats?sslrootcert=ca.pem".parse().unwrap();
        assert!(url.verifies);
    }

    #[test]
    fn each_host_has_all_that_the_url_says() {
        let options = "?target_session_attrs=read-write&connect_timeout=3&application_name=x\
                       &keepalives_interval=4&keepalives_retries=5&tcp_user_timeout=6\
                       &options=-csearch_path%3Dy&sslmode=require&sslnegotiation=direct\
                       &channel_binding=disable&load_balance_hosts=random&keepalives=0";
        let parse = |hosts: &str| -> PostgresUrl {
            let url = format!("postgres://ann:secret@{hosts}/chats{options}");
            url.parse().unwrap()
        };
        let both = parse("a:1,%2Frun%2Fpg:2").hosts();
        assert_eq!(both, [parse("a:1").config, parse("%2Frun%2Fpg:2").config]);
        assert_eq!(parse("a:1").hosts(), [parse("a:1").config]);
        // What does not fit together is the driver's to refuse.
        let odd: PostgresUrl = "postgres://ann@a,b/chats?port=1,2,3".parse().unwrap();
        assert_eq!(odd.hosts(), [odd.config]);
    }

    #[test]
    fn a_mistake_is_named() {
        let of = |option: &str| refused(&format!("postgres://ann:secret@h/chats?{option}"));
        let bad = "not a URL of a database";
        assert_eq!(of("colour=red"), format!("{bad}: unknown option colour"));
        assert_eq!(of("port=x"), format!("{bad}: invalid value for port"));
        let modes = "sslmode is disable, prefer, require or verify-full";
        assert_eq!(of("sslmode=maybe"), format!("{bad}: {modes}"));
        let number = "pool_max_conns is a number from 3";
        assert_eq!(of("pool_max_conns=2"), format!("{bad}: {number}"));
        assert_eq!(refused("postgres://"), format!("{bad}: it names no host"));
        let port = "invalid value for port";
        assert_eq!(refused("postgres://h:x/d"), format!("{bad}: {port}"));
        let form = "expected postgres://USER:PASSWORD@HOST:PORT/DATABASE";
        assert_eq!(refused("postgres://h/%ff"), format!("{bad}: {form}"));
    }

    #[test]
    fn a_password_is_printed_nowhere() {
        for text in [
            "postgres://ann:secret@host/chats",
            "postgres://ann:se?cret=secret&secret@host/chats",
            "postgres://ann:secret@host/chats?secret=secret",
            "postgres://ann:secret@ho`secret`st:y/chats",
            "postgres://ann:%zzsecret@host/chats",
            "postgres://ann:secret",
            "postgres://ann:secret@host?sslrootcert=%zsecret",
        ] {
            let printed = match text.parse::<PostgresUrl>() {
                Ok(url) => format!("{url:?} {}", url.place()),
                Err(error) => format!("{error} {error:?}"),
            };
            let printed = printed.replace("unknown option secret", "");
            assert!(!printed.contains("secret"), "{text}: {printed}");
        }
    }
}
