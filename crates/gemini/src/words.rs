//! Enums of names, in which an unknown name is kept.

macro_rules! words {
    ($(
        $(#[$attribute:meta])*
        pub enum $words:ident {
            $($(#[$note:meta])* $variant:ident = $word:literal,)*
        }
    )+) => {$(
        $(#[$attribute])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub enum $words {
            $($(#[$note])* $variant,)*
            /// A name that is not known here.
            Unknown(String),
        }

        impl $words {
            /// The name on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $word,)*
                    Self::Unknown(word) => word,
                }
            }
        }

        impl From<&str> for $words {
            fn from(word: &str) -> Self {
                match word {
                    $($word => Self::$variant,)*
                    _ => Self::Unknown(word.to_owned()),
                }
            }
        }

        impl $crate::record::Field for $words {
            fn fits(value: &serde_json::Value) -> bool {
                value.is_string()
            }

            fn read(value: serde_json::Value) -> Option<Self> {
                value.as_str().map(Self::from)
            }
        }

        impl std::fmt::Display for $words {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $words {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    )+};
}

pub(crate) use words;
