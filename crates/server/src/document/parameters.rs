//! The parameters of routes, in paths, queries and headers.
#![expect(dead_code, reason = "the types describe requests, and none is made")]

use utoipa::{IntoParams, ToSchema};

/// Which chat.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct ChatPath {
    /// The chat's id, which the client chose: 1 to 256 bytes.
    id: String,
}

/// Which approval.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct ApprovalPath {
    /// The approval: its `approvalId`.
    id: String,
}

/// What a client accepts: what every release of AI SDK 6 and 7 accepts, or the newest 7.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
enum Profile {
    Shared,
    V7,
}

/// For which releases of the AI SDK a stream is written, in the query.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Profiles {
    /// For which releases of the AI SDK a stream is written.
    #[param(inline)]
    profile: Option<Profile>,
}

/// The same, in a header.
#[derive(IntoParams)]
#[into_params(parameter_in = Header, rename_all = "kebab-case")]
pub(crate) struct ProfileHeader {
    /// The same as `profile`, and stronger.
    #[param(inline)]
    x_adk_stream_profile: Option<Profile>,
}

/// Where a resumed stream begins.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ResumeQuery {
    /// The `seq` of the loaded chat: a turn that has ended since is streamed too.
    #[param(maximum = 9_007_199_254_740_991_u64)]
    after: Option<u64>,
    /// How many chunks a client has that counts them, as `WorkflowChatTransport` does.
    #[param(rename = "startIndex", maximum = 9_007_199_254_740_991_i64, minimum = -9_007_199_254_740_991_i64)]
    start_index: Option<i64>,
    /// For which releases of the AI SDK the stream is written.
    #[param(inline)]
    profile: Option<Profile>,
}

/// Which page of a list.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PageQuery {
    /// How many a page holds; 50, unless it says otherwise.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
    /// The `nextCursor` of the page before.
    cursor: Option<String>,
}

/// Which chats, and which page of them.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ChatListQuery {
    /// How many a page holds; 50, unless it says otherwise.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
    /// The `nextCursor` of the page before.
    cursor: Option<String>,
    /// Words that the title contains.
    #[param(max_length = 200)]
    q: Option<String>,
    /// Only those that are archived, or only those that are not.
    archived: Option<bool>,
}

/// Which part of a journal.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct JournalQuery {
    /// The place after which it begins.
    #[param(maximum = 9_007_199_254_740_991_u64)]
    after: Option<u64>,
    /// How many entries a page holds at most.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
}
