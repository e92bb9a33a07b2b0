//! Which store keeps the journals.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use store::PostgresUrl;

/// Which store keeps the journals: `memory`, `sqlite:PATH` or `postgres://…`.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) enum StoreUrl {
    /// In this process, for as long as it lives.
    #[default]
    Memory,
    /// In one SQLite file.
    Sqlite(PathBuf),
    /// In a PostgreSQL database.
    Postgres(Box<PostgresUrl>),
}

impl FromStr for StoreUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // The text is not quoted back: a mistyped URL may hold a password.
        let problem = || "not a store; expected memory, sqlite:PATH or postgres://…".to_owned();
        match text.split_once(':') {
            None if text == "memory" => Ok(StoreUrl::Memory),
            // `sqlite://chats.db` would mean a file in the root folder, which is never meant.
            Some(("sqlite", path)) if path.starts_with("//") => {
                Err("sqlite:PATH takes a path with no // before it".to_owned())
            }
            Some(("sqlite", path)) if !path.is_empty() => Ok(StoreUrl::Sqlite(path.into())),
            Some(("postgres" | "postgresql", rest))
                if rest
                    .strip_prefix("//")
                    .is_some_and(|place| !place.is_empty()) =>
            {
                let url = text.parse::<PostgresUrl>();
                let url = url.map_err(|problem| problem.to_string())?;
                Ok(StoreUrl::Postgres(Box::new(url)))
            }
            _ => Err(problem()),
        }
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreUrl::Memory => write!(f, "memory"),
            StoreUrl::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            StoreUrl::Postgres(_) => write!(f, "postgres://…"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_store_has_its_form() {
        assert_eq!("memory".parse(), Ok(StoreUrl::Memory));
        assert_eq!(
            "sqlite:chats.db".parse(),
            Ok(StoreUrl::Sqlite("chats.db".into()))
        );
        assert_eq!(
            "sqlite:/var/a:b.db".parse(),
            Ok(StoreUrl::Sqlite("/var/a:b.db".into()))
        );
        for url in [
            "postgres://localhost/chats",
            "postgresql://u:p@host:5432/chats?sslmode=require",
        ] {
            let parsed = Box::new(url.parse().unwrap());
            assert_eq!(url.parse(), Ok(StoreUrl::Postgres(parsed)));
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "Memory",
            "memory:",
            " memory",
            "sqlite",
            "sqlite:",
            "sqlite://chats.db",
            "sqlite3:chats.db",
            "postgres:",
            "postgres:/x",
            "postgres://",
            "postgres://host/chats?colour=red",
            "mysql://localhost/chats",
        ] {
            assert!(text.parse::<StoreUrl>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_password_is_printed_nowhere() {
        let stored: StoreUrl = "postgres://ann:secret@host/chats".parse().unwrap();
        let refused = "postgress://ann:secret@host/chats"
            .parse::<StoreUrl>()
            .unwrap_err();
        assert!(!format!("{stored:?}").contains("secret"));
        assert!(!refused.contains("secret"));
    }
}
