//! A client that connects to public addresses, and to others only where the operator named them.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::Policy;
use reqwest::{Response, Url};

use super::address::{Reach, reach};
use super::request::{Named, Prepared, Request};
use super::{HttpError, Redirects};
use crate::tool::BoxFuture;

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(10);

/// How many redirects are followed.
const MAX_REDIRECTS: usize = 5;

type LookUp = Arc<dyn Fn(String) -> BoxFuture<io::Result<Vec<IpAddr>>> + Send + Sync>;

/// Whom tools may reach.
#[derive(Clone)]
pub struct Network {
    tls: rustls::ClientConfig,
    private_hosts: Arc<BTreeSet<String>>,
    look_up: LookUp,
}

impl fmt::Debug for Network {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Network")
            .field("private_hosts", &self.private_hosts)
            .finish_non_exhaustive()
    }
}

impl Network {
    /// The internet, with TLS as configured.
    pub fn new(tls: rustls::ClientConfig) -> Self {
        Self {
            tls,
            private_hosts: Arc::default(),
            look_up: Arc::new(|host| Box::pin(system_look_up(host))),
        }
    }

    /// The same, where these hosts may have private addresses.
    #[must_use]
    pub fn with_private_hosts(mut self, hosts: impl IntoIterator<Item = String>) -> Self {
        let hosts = hosts.into_iter().map(|host| canonical(&host));
        self.private_hosts = Arc::new(hosts.collect());
        self
    }

    /// The same with names looked up otherwise: for tests.
    #[must_use]
    pub fn with_look_up(
        mut self,
        look_up: impl Fn(String) -> BoxFuture<io::Result<Vec<IpAddr>>> + Send + Sync + 'static,
    ) -> Self {
        self.look_up = Arc::new(look_up);
        self
    }

    /// The addresses of a host that a request may be sent to.
    pub async fn addresses(&self, request: &Request) -> io::Result<Vec<IpAddr>> {
        match written_address(request.url()) {
            Some(address) => Ok(vec![address]),
            None => {
                self.resolver(request)
                    .addresses(request.host().to_owned())
                    .await
            }
        }
    }

    fn resolver(&self, request: &Request) -> Resolver {
        let host = canonical(request.host());
        let is_private = self.private_hosts.contains(&host);
        Resolver {
            look_up: self.look_up.clone(),
            may_be_private: is_private || request.is_written_address(),
        }
    }
}

async fn system_look_up(host: String) -> io::Result<Vec<IpAddr>> {
    let found = tokio::net::lookup_host((host.as_str(), 0)).await?;
    Ok(found.map(|address| address.ip()).collect())
}

fn canonical(host: &str) -> String {
    host.trim_end_matches('.').to_ascii_lowercase()
}

/// The address, where the URL has one in place of a name. The URL's parser knows every spelling.
fn written_address(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    host.trim_matches(['[', ']']).parse().ok()
}

/// Looks up names, and gives the addresses that may be connected to: what was checked is what is
/// connected to, so that a name that changes its address in between gains nothing.
#[derive(Clone)]
struct Resolver {
    look_up: LookUp,
    may_be_private: bool,
}

impl Resolver {
    async fn addresses(&self, host: String) -> io::Result<Vec<IpAddr>> {
        let found = (self.look_up)(host.clone()).await?;
        let allowed = |address: &IpAddr| match reach(*address) {
            Reach::Public => true,
            Reach::Private => self.may_be_private,
            Reach::LinkLocal | Reach::Unusable => false,
        };
        let usable: Vec<IpAddr> = found.iter().copied().filter(allowed).collect();
        match (usable.is_empty(), found.is_empty()) {
            (true, false) => Err(io::Error::other(NotPublic(host))),
            _ => Ok(usable),
        }
    }
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let resolver = self.clone();
        Box::pin(async move {
            let found = resolver.addresses(name.as_str().to_owned()).await?;
            let addresses = found.into_iter().map(|address| SocketAddr::new(address, 0));
            Ok(Box::new(addresses) as Addrs)
        })
    }
}

/// A host has no address that a request may be sent to.
#[derive(Debug)]
pub(crate) struct NotPublic(String);

impl fmt::Display for NotPublic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = &self.0;
        write!(
            out,
            "{host} has a private address; name it under private-hosts if it is meant"
        )
    }
}

impl Error for NotPublic {}

/// Why an error came about, if an address was refused.
pub(crate) fn refused_address(error: &(dyn Error + 'static)) -> Option<String> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(refused) = error.downcast_ref::<NotPublic>() {
            return Some(refused.to_string());
        }
        // An I/O error gives the source of what is inside of it, and not what is inside of it.
        let inner = error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        if let Some(refused) = inner.and_then(|inner| inner.downcast_ref::<NotPublic>()) {
            return Some(refused.to_string());
        }
        next = error.source();
    }
    None
}

/// Sends the requests of one tool.
#[derive(Debug, Clone)]
pub(crate) struct Client(reqwest::Client);

impl Client {
    pub(crate) fn new(
        network: &Network,
        request: &Request,
        redirects: Redirects,
    ) -> Result<Self, HttpError> {
        if let Some(address) = written_address(request.url())
            && request.named() == Named::ByDocument
            && reach(address) != Reach::Public
            && !network.private_hosts.contains(&canonical(request.host()))
        {
            return Err(HttpError(format!(
                "{address} is not public; name it under private-hosts if it is meant"
            )));
        }
        let is_near = request.is_written_address()
            || network.private_hosts.contains(&canonical(request.host()));
        if request.url().scheme() == "http" && !is_near && !request.secrets().is_empty() {
            return Err(HttpError(
                "a secret would be sent without encryption: use https".to_owned(),
            ));
        }
        let origin = request.url().origin();
        let policy = match redirects {
            Redirects::None => Policy::none(),
            Redirects::SameHost => Policy::custom(move |attempt| {
                let is_same = attempt.url().origin() == origin;
                match is_same && attempt.previous().len() <= MAX_REDIRECTS {
                    true => attempt.follow(),
                    false => attempt.stop(),
                }
            }),
        };
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(network.tls.clone())
            .user_agent(concat!("adk-stream/", env!("CARGO_PKG_VERSION")))
            .redirect(policy)
            .referer(false)
            // A proxy would look up names by itself, and what was checked here would mean nothing.
            .no_proxy()
            // A connection that the server has just closed would leave an outcome unknown for nothing.
            .pool_max_idle_per_host(0)
            .connect_timeout(CONNECT)
            .dns_resolver(Arc::new(network.resolver(request)))
            .build();
        let failed = |error: reqwest::Error| HttpError(error.without_url().to_string());
        client.map(Self).map_err(failed)
    }

    pub(crate) async fn send(&self, prepared: Prepared) -> Result<Response, reqwest::Error> {
        let mut request = self.0.request(prepared.method, prepared.url);
        request = request.headers(prepared.headers);
        if let Some(body) = prepared.body {
            request = request.body(body);
        }
        request.send().await
    }
}
