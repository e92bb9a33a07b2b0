-- `chat_listed` begins with the owner, too: every new chat was written to both.
DROP INDEX chat_of_owner;
