CREATE SCHEMA adk_stream;
CREATE TABLE adk_stream.call (
    id text NOT NULL COLLATE pg_catalog."C",
    chat text NOT NULL COLLATE pg_catalog."C",
    call text NOT NULL
);
CREATE TABLE adk_stream.chat (
    id text NOT NULL COLLATE pg_catalog."C",
    "position" bigint NOT NULL,
    owner text NOT NULL COLLATE pg_catalog."C",
    opened bigint NOT NULL,
    updated bigint NOT NULL,
    seq bigint NOT NULL,
    turn text,
    standing text NOT NULL,
    running boolean NOT NULL
)
WITH (fillfactor='70');
ALTER TABLE adk_stream.chat ALTER COLUMN "position" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME adk_stream.chat_position_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE adk_stream.entry (
    chat text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    turn text,
    epoch bigint DEFAULT 0 NOT NULL,
    kind text NOT NULL,
    actor text NOT NULL,
    events text NOT NULL,
    at bigint NOT NULL
);
CREATE TABLE adk_stream.gate (
    "position" bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    chat text NOT NULL COLLATE pg_catalog."C",
    turn text NOT NULL,
    owner text NOT NULL COLLATE pg_catalog."C",
    call text NOT NULL COLLATE pg_catalog."C",
    gate text NOT NULL,
    asked bigint NOT NULL,
    expires bigint,
    decision text,
    closed_by text,
    closed_at bigint
);
ALTER TABLE adk_stream.gate ALTER COLUMN "position" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME adk_stream.gate_position_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE adk_stream.lease (
    chat text NOT NULL COLLATE pg_catalog."C",
    epoch bigint NOT NULL,
    owner text NOT NULL COLLATE pg_catalog."C",
    address text NOT NULL,
    expires bigint NOT NULL
);
CREATE TABLE adk_stream.nonce (
    id text NOT NULL COLLATE pg_catalog."C",
    expires bigint NOT NULL
);
CREATE TABLE adk_stream.payment (
    "position" bigint NOT NULL,
    principal text NOT NULL COLLATE pg_catalog."C",
    transaction_id text NOT NULL COLLATE pg_catalog."C",
    call text NOT NULL,
    recipient text NOT NULL,
    cents bigint NOT NULL,
    description text NOT NULL,
    at bigint NOT NULL,
    paid boolean NOT NULL,
    balance bigint NOT NULL
);
ALTER TABLE adk_stream.payment ALTER COLUMN "position" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME adk_stream.payment_position_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE adk_stream.probe (
    id integer NOT NULL,
    at bigint NOT NULL,
    CONSTRAINT probe_id_check CHECK ((id = 1))
);
CREATE TABLE adk_stream.version (
    number integer NOT NULL
);
CREATE TABLE adk_stream.wallet (
    principal text NOT NULL COLLATE pg_catalog."C",
    balance bigint NOT NULL,
    CONSTRAINT wallet_balance_check CHECK ((balance >= 0))
);
INSERT INTO adk_stream.call VALUES ('call_f5b57301fb445fe5345c039d_0', 'approval-open', '{"id":"call_f5b57301fb445fe5345c039d_0","providerId":"call-9c604bb0-2-1","tool":"process_payment","input":{"amount":20,"recipient":"Sam","currency":"USD"},"place":"server","providerMetadata":{"google":{"thoughtSignature":"YWRrLXN0cmVhbS9jYWxsLzRkMzllNjA5MWU1OGU1MGM="}}}');
INSERT INTO adk_stream.call VALUES ('call_6024dc72e3e7e557c896fd0b_0', 'approvals-one-answered', '{"id":"call_6024dc72e3e7e557c896fd0b_0","providerId":"call-9c604bb0-4-1","tool":"process_payment","input":{"amount":30,"recipient":"Alice","currency":"USD"},"place":"server","providerMetadata":{"google":{"thoughtSignature":"YWRrLXN0cmVhbS9jYWxsLzUwYTViNmFkOGQ1NTQwMTk="}}}');
INSERT INTO adk_stream.call VALUES ('call_6024dc72e3e7e557c896fd0b_1', 'approvals-one-answered', '{"id":"call_6024dc72e3e7e557c896fd0b_1","providerId":"call-9c604bb0-4-2","tool":"process_payment","input":{"amount":40,"recipient":"Bob","currency":"USD"},"place":"server"}');
INSERT INTO adk_stream.call VALUES ('call_637504ebaaefe592d5e781c5_0', 'page-call-open', '{"id":"call_637504ebaaefe592d5e781c5_0","providerId":"call-9c604bb0-6-1","tool":"change_bgm","input":{"track":1},"place":"client","providerMetadata":{"google":{"thoughtSignature":"YWRrLXN0cmVhbS9jYWxsL2ZiZWQ4YjE5ODQ2Y2Q1NDU="}}}');
INSERT INTO adk_stream.call VALUES ('call_4e40ce3381a114b9893151c7_0', 'flight-second-question', '{"id":"call_4e40ce3381a114b9893151c7_0","providerId":"call-9c604bb0-8-1","tool":"book_flight","input":{"destination":"Oslo"},"place":"server","providerMetadata":{"google":{"thoughtSignature":"YWRrLXN0cmVhbS9jYWxsLzIzZmU2NjRjODJiNjI2MjQ="}}}');
INSERT INTO adk_stream.call VALUES ('call_c695d0f2bd9f3f91a875fad9_0', 'finished-weather', '{"id":"call_c695d0f2bd9f3f91a875fad9_0","providerId":"call-9c604bb0-10-1","tool":"get_weather","input":{"location":"Tokyo"},"place":"server","providerMetadata":{"google":{"thoughtSignature":"YWRrLXN0cmVhbS9jYWxsLzMyZWMzOTc2OGZkOTZjOGE="}}}');
INSERT INTO adk_stream.call VALUES ('call_48ae16ef0a9accc2a7ec93e1_0', 'finished-file', '{"id":"call_48ae16ef0a9accc2a7ec93e1_0","providerId":"call-9c604bb0-16-1","tool":"get_weather","input":{"location":"Tokyo"},"place":"server","providerMetadata":{"google":{"thoughtSignature":"YWRrLXN0cmVhbS9jYWxsLzMyZWMzOTc2OGZkOTZjOGE="}}}');
INSERT INTO adk_stream.chat OVERRIDING SYSTEM VALUE VALUES ('approval-open', 1, 'approval-open', 1794879382178, 1794879382190, 2, 'f5b57301fb445fe5345c039d', '{"turn":"f5b57301fb445fe5345c039d","calls":[{"id":"call_f5b57301fb445fe5345c039d_0","is_of_last_step":true}],"gates":[{"id":"gate_f5b57301fb445fe5345c039d_0","call":"call_f5b57301fb445fe5345c039d_0"}]}', false);
INSERT INTO adk_stream.chat OVERRIDING SYSTEM VALUE VALUES ('approvals-one-answered', 2, 'approvals-one-answered', 1794879382203, 1794879382242, 4, '6024dc72e3e7e557c896fd0b', '{"turn":"6024dc72e3e7e557c896fd0b","calls":[{"id":"call_6024dc72e3e7e557c896fd0b_1","is_of_last_step":true}],"gates":[{"id":"gate_6024dc72e3e7e557c896fd0b_1","call":"call_6024dc72e3e7e557c896fd0b_1"}]}', false);
INSERT INTO adk_stream.chat OVERRIDING SYSTEM VALUE VALUES ('page-call-open', 3, 'page-call-open', 1794879382257, 1794879382264, 2, '637504ebaaefe592d5e781c5', '{"turn":"637504ebaaefe592d5e781c5","calls":[{"id":"call_637504ebaaefe592d5e781c5_0","is_of_last_step":true}],"gates":[{"id":"gate_637504ebaaefe592d5e781c5_0","call":"call_637504ebaaefe592d5e781c5_0"}]}', false);
INSERT INTO adk_stream.chat OVERRIDING SYSTEM VALUE VALUES ('finished-file', 7, 'finished-file', 1794879382355, 1794879382377, 4, NULL, '{}', false);
INSERT INTO adk_stream.chat OVERRIDING SYSTEM VALUE VALUES ('flight-second-question', 4, 'flight-second-question', 1794879382271, 1794879382304, 6, '4e40ce3381a114b9893151c7', '{"turn":"4e40ce3381a114b9893151c7","calls":[{"id":"call_4e40ce3381a114b9893151c7_0","is_of_last_step":true,"is_started":true}],"gates":[{"id":"gate_4e40ce3381a114b9893151c7_1","call":"call_4e40ce3381a114b9893151c7_0"}]}', false);
INSERT INTO adk_stream.chat OVERRIDING SYSTEM VALUE VALUES ('finished-by-a-filter', 8, 'finished-by-a-filter', 1794879382384, 1794879382391, 2, NULL, '{}', false);
INSERT INTO adk_stream.chat OVERRIDING SYSTEM VALUE VALUES ('finished-weather', 5, 'finished-weather', 1794879382314, 1794879382332, 4, NULL, '{}', false);
INSERT INTO adk_stream.chat OVERRIDING SYSTEM VALUE VALUES ('finished-with-everything', 6, 'finished-with-everything', 1794879382339, 1794879382347, 2, NULL, '{}', false);
INSERT INTO adk_stream.chat OVERRIDING SYSTEM VALUE VALUES ('finished-garbled', 9, 'finished-garbled', 1794879382399, 1794879382408, 2, NULL, '{}', false);
INSERT INTO adk_stream.chat OVERRIDING SYSTEM VALUE VALUES ('finished-oddly', 10, 'finished-oddly', 1794879382413, 1794879382419, 2, NULL, '{}', false);
INSERT INTO adk_stream.chat OVERRIDING SYSTEM VALUE VALUES ('failed-rate-limit', 11, 'failed-rate-limit', 1794879382427, 1794879382431, 2, NULL, '{}', false);
INSERT INTO adk_stream.chat OVERRIDING SYSTEM VALUE VALUES ('failed-blocked', 12, 'failed-blocked', 1794879382438, 1794879382447, 2, NULL, '{}', false);
INSERT INTO adk_stream.chat OVERRIDING SYSTEM VALUE VALUES ('killed-in-a-step', 13, 'killed-in-a-step', 1794879382455, 1794879382455, 1, '6ebff43f02cf43f6aa788136', '{"turn":"6ebff43f02cf43f6aa788136"}', true);
INSERT INTO adk_stream.entry VALUES ('approval-open', 1, 'f5b57301fb445fe5345c039d', 0, 'chat-opened,turn-opened', 'approval-open', '[{"event":"chat-opened","owner":"approval-open"},{"event":"turn-opened","turn":"f5b57301fb445fe5345c039d","messageId":"msg_f5b57301fb445fe5345c039d","cause":{"cause":"message","message":{"id":"u1","role":"user","parts":[{"type":"text","text":"Send $20 to Sam"}]}}}]', 1794879382178);
INSERT INTO adk_stream.entry VALUES ('approval-open', 2, 'f5b57301fb445fe5345c039d', 0, 'step-ended,gate-opened', 'approval-open', '[{"event":"step-ended","turn":"f5b57301fb445fe5345c039d","parts":[{"part":"reasoning","text":"The user wants me to send $20 to Sam."},{"part":"call","id":"call_f5b57301fb445fe5345c039d_0","providerId":"call-9c604bb0-2-1","tool":"process_payment","input":{"amount":20,"recipient":"Sam","currency":"USD"},"place":"server","providerMetadata":{"google":{"thoughtSignature":"YWRrLXN0cmVhbS9jYWxsLzRkMzllNjA5MWU1OGU1MGM="}}}],"finish":"stop","metadata":{"usage":{"promptTokens":4,"completionTokens":27,"totalTokens":44,"reasoningTokens":13},"modelVersion":"gemini-flash-latest"}},{"event":"gate-opened","turn":"f5b57301fb445fe5345c039d","gate":{"id":"gate_f5b57301fb445fe5345c039d_0","call":"call_f5b57301fb445fe5345c039d_0","kind":{"kind":"approval","question":"Send 20 USD to Sam?"}}}]', 1794879382190);
INSERT INTO adk_stream.entry VALUES ('approvals-one-answered', 1, '6024dc72e3e7e557c896fd0b', 0, 'chat-opened,turn-opened', 'approvals-one-answered', '[{"event":"chat-opened","owner":"approvals-one-answered"},{"event":"turn-opened","turn":"6024dc72e3e7e557c896fd0b","messageId":"msg_6024dc72e3e7e557c896fd0b","cause":{"cause":"message","message":{"id":"u1","role":"user","parts":[{"type":"text","text":"Send $30 to Alice and $40 to Bob"}]}}}]', 1794879382203);
INSERT INTO adk_stream.entry VALUES ('approvals-one-answered', 2, '6024dc72e3e7e557c896fd0b', 0, 'step-ended,gate-opened,gate-opened', 'approvals-one-answered', '[{"event":"step-ended","turn":"6024dc72e3e7e557c896fd0b","parts":[{"part":"reasoning","text":"The user wants me to send $30 to Alice and send $40 to Bob. I can ask for all of it at once."},{"part":"call","id":"call_6024dc72e3e7e557c896fd0b_0","providerId":"call-9c604bb0-4-1","tool":"process_payment","input":{"amount":30,"recipient":"Alice","currency":"USD"},"place":"server","providerMetadata":{"google":{"thoughtSignature":"YWRrLXN0cmVhbS9jYWxsLzUwYTViNmFkOGQ1NTQwMTk="}}},{"part":"call","id":"call_6024dc72e3e7e557c896fd0b_1","providerId":"call-9c604bb0-4-2","tool":"process_payment","input":{"amount":40,"recipient":"Bob","currency":"USD"},"place":"server"}],"finish":"stop","metadata":{"usage":{"promptTokens":8,"completionTokens":55,"totalTokens":93,"reasoningTokens":30},"modelVersion":"gemini-flash-latest"}},{"event":"gate-opened","turn":"6024dc72e3e7e557c896fd0b","gate":{"id":"gate_6024dc72e3e7e557c896fd0b_0","call":"call_6024dc72e3e7e557c896fd0b_0","kind":{"kind":"approval","question":"Send 30 USD to Alice?"}}},{"event":"gate-opened","turn":"6024dc72e3e7e557c896fd0b","gate":{"id":"gate_6024dc72e3e7e557c896fd0b_1","call":"call_6024dc72e3e7e557c896fd0b_1","kind":{"kind":"approval","question":"Send 40 USD to Bob?"}}}]', 1794879382215);
INSERT INTO adk_stream.entry VALUES ('approvals-one-answered', 3, '6024dc72e3e7e557c896fd0b', 0, 'gate-closed,call-started', 'approvals-one-answered', '[{"event":"gate-closed","turn":"6024dc72e3e7e557c896fd0b","gate":"gate_6024dc72e3e7e557c896fd0b_0","decision":"approved"},{"event":"call-started","turn":"6024dc72e3e7e557c896fd0b","call":"call_6024dc72e3e7e557c896fd0b_0"}]', 1794879382227);
INSERT INTO adk_stream.entry VALUES ('approvals-one-answered', 4, '6024dc72e3e7e557c896fd0b', 0, 'call-settled', 'approvals-one-answered', '[{"event":"call-settled","turn":"6024dc72e3e7e557c896fd0b","call":"call_6024dc72e3e7e557c896fd0b_0","outcome":"output","output":{"success":true,"transaction_id":"txn_75e5ec19226b","amount":30,"currency":"USD","recipient":"Alice","description":"","wallet_balance":970,"timestamp":"2026-11-17T01:36:22Z"}}]', 1794879382242);
INSERT INTO adk_stream.entry VALUES ('page-call-open', 1, '637504ebaaefe592d5e781c5', 0, 'chat-opened,turn-opened', 'page-call-open', '[{"event":"chat-opened","owner":"page-call-open"},{"event":"turn-opened","turn":"637504ebaaefe592d5e781c5","messageId":"msg_637504ebaaefe592d5e781c5","cause":{"cause":"message","message":{"id":"u1","role":"user","parts":[{"type":"text","text":"Play track 1"}]}}}]', 1794879382257);
INSERT INTO adk_stream.entry VALUES ('page-call-open', 2, '637504ebaaefe592d5e781c5', 0, 'step-ended,gate-opened', 'page-call-open', '[{"event":"step-ended","turn":"637504ebaaefe592d5e781c5","parts":[{"part":"reasoning","text":"The user wants me to switch to track 1."},{"part":"call","id":"call_637504ebaaefe592d5e781c5_0","providerId":"call-9c604bb0-6-1","tool":"change_bgm","input":{"track":1},"place":"client","providerMetadata":{"google":{"thoughtSignature":"YWRrLXN0cmVhbS9jYWxsL2ZiZWQ4YjE5ODQ2Y2Q1NDU="}}}],"finish":"stop","metadata":{"usage":{"promptTokens":3,"completionTokens":17,"totalTokens":33,"reasoningTokens":13},"modelVersion":"gemini-flash-latest"}},{"event":"gate-opened","turn":"637504ebaaefe592d5e781c5","gate":{"id":"gate_637504ebaaefe592d5e781c5_0","call":"call_637504ebaaefe592d5e781c5_0","kind":{"kind":"client-call"}}}]', 1794879382264);
INSERT INTO adk_stream.entry VALUES ('flight-second-question', 1, '4e40ce3381a114b9893151c7', 0, 'chat-opened,turn-opened', 'flight-second-question', '[{"event":"chat-opened","owner":"flight-second-question"},{"event":"turn-opened","turn":"4e40ce3381a114b9893151c7","messageId":"msg_4e40ce3381a114b9893151c7","cause":{"cause":"message","message":{"id":"u1","role":"user","parts":[{"type":"text","text":"Book a flight to Oslo"}]}}}]', 1794879382271);
INSERT INTO adk_stream.entry VALUES ('flight-second-question', 2, '4e40ce3381a114b9893151c7', 0, 'step-ended,call-started', 'flight-second-question', '[{"event":"step-ended","turn":"4e40ce3381a114b9893151c7","parts":[{"part":"reasoning","text":"The user wants me to book a flight to Oslo."},{"part":"call","id":"call_4e40ce3381a114b9893151c7_0","providerId":"call-9c604bb0-8-1","tool":"book_flight","input":{"destination":"Oslo"},"place":"server","providerMetadata":{"google":{"thoughtSignature":"YWRrLXN0cmVhbS9jYWxsLzIzZmU2NjRjODJiNjI2MjQ="}}}],"finish":"stop","metadata":{"usage":{"promptTokens":6,"completionTokens":20,"totalTokens":41,"reasoningTokens":15},"modelVersion":"gemini-flash-latest"}},{"event":"call-started","turn":"4e40ce3381a114b9893151c7","call":"call_4e40ce3381a114b9893151c7_0"}]', 1794879382278);
INSERT INTO adk_stream.entry VALUES ('flight-second-question', 3, '4e40ce3381a114b9893151c7', 0, 'gate-opened', 'flight-second-question', '[{"event":"gate-opened","turn":"4e40ce3381a114b9893151c7","gate":{"id":"gate_4e40ce3381a114b9893151c7_0","call":"call_4e40ce3381a114b9893151c7_0","kind":{"kind":"approval","question":"Hold a seat to Oslo?","within":true}}}]', 1794879382285);
INSERT INTO adk_stream.entry VALUES ('flight-second-question', 4, '4e40ce3381a114b9893151c7', 0, 'gate-closed', 'flight-second-question', '[{"event":"gate-closed","turn":"4e40ce3381a114b9893151c7","gate":"gate_4e40ce3381a114b9893151c7_0","decision":"approved"}]', 1794879382293);
INSERT INTO adk_stream.entry VALUES ('flight-second-question', 5, '4e40ce3381a114b9893151c7', 0, 'call-recorded', 'flight-second-question', '[{"event":"call-recorded","turn":"4e40ce3381a114b9893151c7","call":"call_4e40ce3381a114b9893151c7_0","name":"seat","value":"seat_f95cde6b7f27"}]', 1794879382301);
INSERT INTO adk_stream.entry VALUES ('flight-second-question', 6, '4e40ce3381a114b9893151c7', 0, 'gate-opened', 'flight-second-question', '[{"event":"gate-opened","turn":"4e40ce3381a114b9893151c7","gate":{"id":"gate_4e40ce3381a114b9893151c7_1","call":"call_4e40ce3381a114b9893151c7_0","kind":{"kind":"approval","question":"Pay 120 USD for seat seat_f95cde6b7f27 to Oslo?","within":true}}}]', 1794879382304);
INSERT INTO adk_stream.entry VALUES ('finished-weather', 1, 'c695d0f2bd9f3f91a875fad9', 0, 'chat-opened,turn-opened', 'finished-weather', '[{"event":"chat-opened","owner":"finished-weather"},{"event":"turn-opened","turn":"c695d0f2bd9f3f91a875fad9","messageId":"msg_c695d0f2bd9f3f91a875fad9","cause":{"cause":"message","message":{"id":"u1","role":"user","parts":[{"type":"text","text":"What is the weather in Tokyo?"}]}}}]', 1794879382314);
INSERT INTO adk_stream.entry VALUES ('finished-weather', 2, 'c695d0f2bd9f3f91a875fad9', 0, 'step-ended,call-started', 'finished-weather', '[{"event":"step-ended","turn":"c695d0f2bd9f3f91a875fad9","parts":[{"part":"reasoning","text":"The user wants me to look up the weather in Tokyo."},{"part":"call","id":"call_c695d0f2bd9f3f91a875fad9_0","providerId":"call-9c604bb0-10-1","tool":"get_weather","input":{"location":"Tokyo"},"place":"server","providerMetadata":{"google":{"thoughtSignature":"YWRrLXN0cmVhbS9jYWxsLzMyZWMzOTc2OGZkOTZjOGE="}}}],"finish":"stop","metadata":{"usage":{"promptTokens":8,"completionTokens":19,"totalTokens":43,"reasoningTokens":16},"modelVersion":"gemini-flash-latest"}},{"event":"call-started","turn":"c695d0f2bd9f3f91a875fad9","call":"call_c695d0f2bd9f3f91a875fad9_0"}]', 1794879382322);
INSERT INTO adk_stream.entry VALUES ('finished-weather', 3, 'c695d0f2bd9f3f91a875fad9', 0, 'call-settled', 'finished-weather', '[{"event":"call-settled","turn":"c695d0f2bd9f3f91a875fad9","call":"call_c695d0f2bd9f3f91a875fad9_0","outcome":"output","output":{"temperature":18,"condition":"Cloudy","humidity":65,"location":"Tokyo"}}]', 1794879382325);
INSERT INTO adk_stream.entry VALUES ('finished-weather', 4, 'c695d0f2bd9f3f91a875fad9', 0, 'step-ended,turn-ended', 'finished-weather', '[{"event":"step-ended","turn":"c695d0f2bd9f3f91a875fad9","parts":[{"part":"text","text":"The weather in Tokyo: 18°C, Cloudy, 65% humidity."},{"part":"opaque","content":{"google":{"text":"","thoughtSignature":"YWRrLXN0cmVhbS90ZXh0LzRiNTVkYTZkZmNhYTMyM2RyZXNwb25zZS05YzYwNGJiMC0xMQ=="}}}],"finish":"stop","metadata":{"usage":{"promptTokens":50,"completionTokens":14,"totalTokens":64},"modelVersion":"gemini-flash-latest"}},{"event":"turn-ended","turn":"c695d0f2bd9f3f91a875fad9","end":"finished"}]', 1794879382332);
INSERT INTO adk_stream.entry VALUES ('finished-with-everything', 1, 'f9c4c75332e364498eaa3a53', 0, 'chat-opened,turn-opened', 'finished-with-everything', '[{"event":"chat-opened","owner":"finished-with-everything"},{"event":"turn-opened","turn":"f9c4c75332e364498eaa3a53","messageId":"msg_f9c4c75332e364498eaa3a53","cause":{"cause":"message","message":{"id":"u1","role":"user","parts":[{"type":"text","text":"Draw a dot"}]}}}]', 1794879382339);
INSERT INTO adk_stream.entry VALUES ('finished-with-everything', 2, 'f9c4c75332e364498eaa3a53', 0, 'step-ended,turn-ended', 'finished-with-everything', '[{"event":"step-ended","turn":"f9c4c75332e364498eaa3a53","parts":[{"part":"reasoning","text":"They want a dot."},{"part":"text","text":"Here it is: "},{"part":"file","url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==","mediaType":"image/png"},{"part":"opaque","content":{"google":{"executableCode":{"language":"PYTHON","code":"print(1)"}}}},{"part":"opaque","content":{"google":{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1\n"}}}},{"part":"text","text":"a dot.","providerMetadata":{"google":{"thoughtSignature":"skip_thought_signature_validator"}}},{"part":"source","url":"https://example.com/dot","title":"Dots"}],"finish":"length","metadata":{"usage":{"promptTokens":5,"completionTokens":7,"totalTokens":12},"modelVersion":"gemini-emulated","finishReason":"MAX_TOKENS"}},{"event":"turn-ended","turn":"f9c4c75332e364498eaa3a53","end":"finished"}]', 1794879382347);
INSERT INTO adk_stream.entry VALUES ('finished-file', 1, '48ae16ef0a9accc2a7ec93e1', 0, 'chat-opened,turn-opened', 'finished-file', '[{"event":"chat-opened","owner":"finished-file"},{"event":"turn-opened","turn":"48ae16ef0a9accc2a7ec93e1","messageId":"msg_48ae16ef0a9accc2a7ec93e1","cause":{"cause":"message","message":{"id":"u1","role":"user","parts":[{"type":"text","text":"What is the weather in Tokyo?"},{"type":"file","mediaType":"text/plain","url":"data:text/plain;base64,dGVh"}]}}}]', 1794879382355);
INSERT INTO adk_stream.entry VALUES ('finished-file', 2, '48ae16ef0a9accc2a7ec93e1', 0, 'step-ended,call-started', 'finished-file', '[{"event":"step-ended","turn":"48ae16ef0a9accc2a7ec93e1","parts":[{"part":"reasoning","text":"The user wants me to look up the weather in Tokyo."},{"part":"call","id":"call_48ae16ef0a9accc2a7ec93e1_0","providerId":"call-9c604bb0-16-1","tool":"get_weather","input":{"location":"Tokyo"},"place":"server","providerMetadata":{"google":{"thoughtSignature":"YWRrLXN0cmVhbS9jYWxsLzMyZWMzOTc2OGZkOTZjOGE="}}}],"finish":"stop","metadata":{"usage":{"promptTokens":266,"completionTokens":19,"totalTokens":301,"reasoningTokens":16},"modelVersion":"gemini-flash-latest"}},{"event":"call-started","turn":"48ae16ef0a9accc2a7ec93e1","call":"call_48ae16ef0a9accc2a7ec93e1_0"}]', 1794879382365);
INSERT INTO adk_stream.entry VALUES ('finished-file', 3, '48ae16ef0a9accc2a7ec93e1', 0, 'call-settled', 'finished-file', '[{"event":"call-settled","turn":"48ae16ef0a9accc2a7ec93e1","call":"call_48ae16ef0a9accc2a7ec93e1_0","outcome":"output","output":{"temperature":18,"condition":"Cloudy","humidity":65,"location":"Tokyo"}}]', 1794879382370);
INSERT INTO adk_stream.entry VALUES ('finished-file', 4, '48ae16ef0a9accc2a7ec93e1', 0, 'step-ended,turn-ended', 'finished-file', '[{"event":"step-ended","turn":"48ae16ef0a9accc2a7ec93e1","parts":[{"part":"text","text":"The weather in Tokyo: 18°C, Cloudy, 65% humidity."},{"part":"opaque","content":{"google":{"text":"","thoughtSignature":"YWRrLXN0cmVhbS90ZXh0LzczMGMwYjJlNGY1OWU4ZjdyZXNwb25zZS05YzYwNGJiMC0xNw=="}}}],"finish":"stop","metadata":{"usage":{"promptTokens":308,"completionTokens":14,"totalTokens":322},"modelVersion":"gemini-flash-latest"}},{"event":"turn-ended","turn":"48ae16ef0a9accc2a7ec93e1","end":"finished"}]', 1794879382377);
INSERT INTO adk_stream.entry VALUES ('finished-by-a-filter', 1, 'f12742b675c609ed174dd795', 0, 'chat-opened,turn-opened', 'finished-by-a-filter', '[{"event":"chat-opened","owner":"finished-by-a-filter"},{"event":"turn-opened","turn":"f12742b675c609ed174dd795","messageId":"msg_f12742b675c609ed174dd795","cause":{"cause":"message","message":{"id":"u1","role":"user","parts":[{"type":"text","text":"Say half of it"}]}}}]', 1794879382384);
INSERT INTO adk_stream.entry VALUES ('finished-by-a-filter', 2, 'f12742b675c609ed174dd795', 0, 'step-ended,turn-ended', 'finished-by-a-filter', '[{"event":"step-ended","turn":"f12742b675c609ed174dd795","parts":[{"part":"text","text":"You said:"}],"finish":"content-filter","metadata":{"usage":{"promptTokens":4,"completionTokens":3,"totalTokens":7},"modelVersion":"gemini-flash-latest","finishReason":"SAFETY"}},{"event":"turn-ended","turn":"f12742b675c609ed174dd795","end":"finished"}]', 1794879382391);
INSERT INTO adk_stream.entry VALUES ('finished-garbled', 1, '81da4923f303499acacf73f5', 0, 'chat-opened,turn-opened', 'finished-garbled', '[{"event":"chat-opened","owner":"finished-garbled"},{"event":"turn-opened","turn":"81da4923f303499acacf73f5","messageId":"msg_81da4923f303499acacf73f5","cause":{"cause":"message","message":{"id":"u1","role":"user","parts":[{"type":"text","text":"Say it garbled"}]}}}]', 1794879382399);
INSERT INTO adk_stream.entry VALUES ('finished-garbled', 2, '81da4923f303499acacf73f5', 0, 'step-ended,turn-ended', 'finished-garbled', '[{"event":"step-ended","turn":"81da4923f303499acacf73f5","parts":[{"part":"text","text":"You said:"}],"finish":"error","metadata":{"usage":{"promptTokens":4,"completionTokens":3,"totalTokens":7},"modelVersion":"gemini-flash-latest","finishReason":"MALFORMED_FUNCTION_CALL"}},{"event":"turn-ended","turn":"81da4923f303499acacf73f5","end":"finished"}]', 1794879382408);
INSERT INTO adk_stream.entry VALUES ('finished-oddly', 1, 'f2379d3568486ff9ab727dd9', 0, 'chat-opened,turn-opened', 'finished-oddly', '[{"event":"chat-opened","owner":"finished-oddly"},{"event":"turn-opened","turn":"f2379d3568486ff9ab727dd9","messageId":"msg_f2379d3568486ff9ab727dd9","cause":{"cause":"message","message":{"id":"u1","role":"user","parts":[{"type":"text","text":"Say it oddly"}]}}}]', 1794879382413);
INSERT INTO adk_stream.entry VALUES ('finished-oddly', 2, 'f2379d3568486ff9ab727dd9', 0, 'step-ended,turn-ended', 'finished-oddly', '[{"event":"step-ended","turn":"f2379d3568486ff9ab727dd9","parts":[{"part":"text","text":"You said:"}],"finish":"other","metadata":{"usage":{"promptTokens":3,"completionTokens":3,"totalTokens":6},"modelVersion":"gemini-flash-latest","finishReason":"OTHER"}},{"event":"turn-ended","turn":"f2379d3568486ff9ab727dd9","end":"finished"}]', 1794879382419);
INSERT INTO adk_stream.entry VALUES ('failed-rate-limit', 1, 'cf8444451150f1775fc9a41c', 0, 'chat-opened,turn-opened', 'failed-rate-limit', '[{"event":"chat-opened","owner":"failed-rate-limit"},{"event":"turn-opened","turn":"cf8444451150f1775fc9a41c","messageId":"msg_cf8444451150f1775fc9a41c","cause":{"cause":"message","message":{"id":"u1","role":"user","parts":[{"type":"text","text":"I ask too often"}]}}}]', 1794879382427);
INSERT INTO adk_stream.entry VALUES ('failed-rate-limit', 2, 'cf8444451150f1775fc9a41c', 0, 'turn-ended', 'failed-rate-limit', '[{"event":"turn-ended","turn":"cf8444451150f1775fc9a41c","end":"failed","code":"rate_limited","message":"Gemini is asked too often. Try again in 17 seconds.","retryAfterMs":17000}]', 1794879382431);
INSERT INTO adk_stream.entry VALUES ('failed-blocked', 1, '08cfec8551c2d34bcd33a62a', 0, 'chat-opened,turn-opened', 'failed-blocked', '[{"event":"chat-opened","owner":"failed-blocked"},{"event":"turn-opened","turn":"08cfec8551c2d34bcd33a62a","messageId":"msg_08cfec8551c2d34bcd33a62a","cause":{"cause":"message","message":{"id":"u1","role":"user","parts":[{"type":"text","text":"Say what is forbidden"}]}}}]', 1794879382438);
INSERT INTO adk_stream.entry VALUES ('failed-blocked', 2, '08cfec8551c2d34bcd33a62a', 0, 'turn-ended', 'failed-blocked', '[{"event":"turn-ended","turn":"08cfec8551c2d34bcd33a62a","end":"failed","code":"agent_blocked","message":"Gemini blocked the prompt (SAFETY)."}]', 1794879382447);
INSERT INTO adk_stream.entry VALUES ('killed-in-a-step', 1, '6ebff43f02cf43f6aa788136', 0, 'chat-opened,turn-opened', 'killed-in-a-step', '[{"event":"chat-opened","owner":"killed-in-a-step"},{"event":"turn-opened","turn":"6ebff43f02cf43f6aa788136","messageId":"msg_6ebff43f02cf43f6aa788136","cause":{"cause":"message","message":{"id":"u1","role":"user","parts":[{"type":"text","text":"Say it slowly"}]}}}]', 1794879382455);
INSERT INTO adk_stream.gate OVERRIDING SYSTEM VALUE VALUES (1, 'gate_f5b57301fb445fe5345c039d_0', 'approval-open', 'f5b57301fb445fe5345c039d', 'approval-open', 'call_f5b57301fb445fe5345c039d_0', '{"id":"gate_f5b57301fb445fe5345c039d_0","call":"call_f5b57301fb445fe5345c039d_0","kind":{"kind":"approval","question":"Send 20 USD to Sam?"}}', 1794879382190, NULL, NULL, NULL, NULL);
INSERT INTO adk_stream.gate OVERRIDING SYSTEM VALUE VALUES (3, 'gate_6024dc72e3e7e557c896fd0b_1', 'approvals-one-answered', '6024dc72e3e7e557c896fd0b', 'approvals-one-answered', 'call_6024dc72e3e7e557c896fd0b_1', '{"id":"gate_6024dc72e3e7e557c896fd0b_1","call":"call_6024dc72e3e7e557c896fd0b_1","kind":{"kind":"approval","question":"Send 40 USD to Bob?"}}', 1794879382215, NULL, NULL, NULL, NULL);
INSERT INTO adk_stream.gate OVERRIDING SYSTEM VALUE VALUES (2, 'gate_6024dc72e3e7e557c896fd0b_0', 'approvals-one-answered', '6024dc72e3e7e557c896fd0b', 'approvals-one-answered', 'call_6024dc72e3e7e557c896fd0b_0', '{"id":"gate_6024dc72e3e7e557c896fd0b_0","call":"call_6024dc72e3e7e557c896fd0b_0","kind":{"kind":"approval","question":"Send 30 USD to Alice?"}}', 1794879382215, NULL, '{"decision":"approved"}', 'approvals-one-answered', 1794879382227);
INSERT INTO adk_stream.gate OVERRIDING SYSTEM VALUE VALUES (4, 'gate_637504ebaaefe592d5e781c5_0', 'page-call-open', '637504ebaaefe592d5e781c5', 'page-call-open', 'call_637504ebaaefe592d5e781c5_0', '{"id":"gate_637504ebaaefe592d5e781c5_0","call":"call_637504ebaaefe592d5e781c5_0","kind":{"kind":"client-call"}}', 1794879382264, NULL, NULL, NULL, NULL);
INSERT INTO adk_stream.gate OVERRIDING SYSTEM VALUE VALUES (5, 'gate_4e40ce3381a114b9893151c7_0', 'flight-second-question', '4e40ce3381a114b9893151c7', 'flight-second-question', 'call_4e40ce3381a114b9893151c7_0', '{"id":"gate_4e40ce3381a114b9893151c7_0","call":"call_4e40ce3381a114b9893151c7_0","kind":{"kind":"approval","question":"Hold a seat to Oslo?","within":true}}', 1794879382285, NULL, '{"decision":"approved"}', 'flight-second-question', 1794879382293);
INSERT INTO adk_stream.gate OVERRIDING SYSTEM VALUE VALUES (6, 'gate_4e40ce3381a114b9893151c7_1', 'flight-second-question', '4e40ce3381a114b9893151c7', 'flight-second-question', 'call_4e40ce3381a114b9893151c7_0', '{"id":"gate_4e40ce3381a114b9893151c7_1","call":"call_4e40ce3381a114b9893151c7_0","kind":{"kind":"approval","question":"Pay 120 USD for seat seat_f95cde6b7f27 to Oslo?","within":true}}', 1794879382304, NULL, NULL, NULL, NULL);
INSERT INTO adk_stream.payment OVERRIDING SYSTEM VALUE VALUES (1, 'approvals-one-answered', 'txn_75e5ec19226b', 'call_6024dc72e3e7e557c896fd0b_0', 'Alice', 3000, '', 1794879382233, true, 97000);
INSERT INTO adk_stream.version VALUES (3);
INSERT INTO adk_stream.wallet VALUES ('approvals-one-answered', 97000);
SELECT pg_catalog.setval('adk_stream.chat_position_seq', 13, true);
SELECT pg_catalog.setval('adk_stream.gate_position_seq', 6, true);
SELECT pg_catalog.setval('adk_stream.payment_position_seq', 1, true);
ALTER TABLE ONLY adk_stream.call
    ADD CONSTRAINT call_id PRIMARY KEY (id);
ALTER TABLE ONLY adk_stream.chat
    ADD CONSTRAINT chat_pkey PRIMARY KEY (id);
ALTER TABLE ONLY adk_stream.entry
    ADD CONSTRAINT entry_pkey PRIMARY KEY (chat, seq);
ALTER TABLE ONLY adk_stream.gate
    ADD CONSTRAINT gate_id UNIQUE (id);
ALTER TABLE ONLY adk_stream.gate
    ADD CONSTRAINT gate_pkey PRIMARY KEY ("position");
ALTER TABLE ONLY adk_stream.lease
    ADD CONSTRAINT lease_pkey PRIMARY KEY (chat);
ALTER TABLE ONLY adk_stream.nonce
    ADD CONSTRAINT nonce_pkey PRIMARY KEY (id);
ALTER TABLE ONLY adk_stream.payment
    ADD CONSTRAINT payment_pkey PRIMARY KEY ("position");
ALTER TABLE ONLY adk_stream.payment
    ADD CONSTRAINT payment_principal_transaction_id_key UNIQUE (principal, transaction_id);
ALTER TABLE ONLY adk_stream.probe
    ADD CONSTRAINT probe_pkey PRIMARY KEY (id);
ALTER TABLE ONLY adk_stream.wallet
    ADD CONSTRAINT wallet_pkey PRIMARY KEY (principal);
CREATE INDEX call_in_chat ON adk_stream.call USING btree (chat);
CREATE INDEX chat_of_owner ON adk_stream.chat USING btree (owner);
CREATE INDEX chat_open ON adk_stream.chat USING btree (owner) WHERE (turn IS NOT NULL);
CREATE INDEX chat_running ON adk_stream.chat USING btree (id) WHERE running;
CREATE INDEX gate_expiring ON adk_stream.gate USING btree (expires) WHERE ((decision IS NULL) AND (expires IS NOT NULL));
CREATE INDEX gate_in_chat ON adk_stream.gate USING btree (chat);
CREATE INDEX gate_open ON adk_stream.gate USING btree (owner, asked) WHERE (decision IS NULL);
CREATE INDEX lease_of_owner ON adk_stream.lease USING btree (owner);
CREATE INDEX nonce_expiring ON adk_stream.nonce USING btree (expires);
ALTER TABLE ONLY adk_stream.call
    ADD CONSTRAINT call_chat_fkey FOREIGN KEY (chat) REFERENCES adk_stream.chat(id) ON DELETE CASCADE;
ALTER TABLE ONLY adk_stream.gate
    ADD CONSTRAINT gate_chat_fkey FOREIGN KEY (chat) REFERENCES adk_stream.chat(id) ON DELETE CASCADE;
ALTER TABLE ONLY adk_stream.lease
    ADD CONSTRAINT lease_chat_fkey FOREIGN KEY (chat) REFERENCES adk_stream.chat(id) ON DELETE CASCADE;
ALTER TABLE ONLY adk_stream.payment
    ADD CONSTRAINT payment_principal_fkey FOREIGN KEY (principal) REFERENCES adk_stream.wallet(principal);
