-- Nobody asks for the chats whose turn has not ended: those that need somebody are `chat_running`.
DROP INDEX chat_unfinished;
