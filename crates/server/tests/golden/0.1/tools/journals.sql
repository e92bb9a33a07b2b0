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
INSERT INTO adk_stream.call VALUES ('call_c78c5676fbb92a7e5698d08b_0', 'unknown', '{"id":"call_c78c5676fbb92a7e5698d08b_0","tool":"get_weather","input":{"location":"Tokyo"},"place":"server"}');
INSERT INTO adk_stream.call VALUES ('call_df476a2fb7157bd41e756b92_0', 'asked-by-policy', '{"id":"call_df476a2fb7157bd41e756b92_0","tool":"book_flight","input":{"destination":"Oslo"},"place":"server"}');
INSERT INTO adk_stream.call VALUES ('call_f348aa938b75e67e496ab4fc_0', 'edited-then-asked', '{"id":"call_f348aa938b75e67e496ab4fc_0","tool":"book_flight","input":{"destination":"Oslo"},"place":"server"}');
INSERT INTO adk_stream.call VALUES ('call_5c4a1ec0f5ecbf17e35c5f9b_0', 'edited-then-asked-to-be-denied', '{"id":"call_5c4a1ec0f5ecbf17e35c5f9b_0","tool":"book_flight","input":{"destination":"Oslo"},"place":"server"}');
INSERT INTO adk_stream.call VALUES ('call_aa645c6693445d9575685659_0', 'edited-then-page-call', '{"id":"call_aa645c6693445d9575685659_0","tool":"book_flight","input":{"destination":"Oslo"},"place":"server"}');
INSERT INTO adk_stream.call VALUES ('call_aa645c6693445d9575685659_1', 'edited-then-page-call', '{"id":"call_aa645c6693445d9575685659_1","tool":"change_bgm","input":{"track":2},"place":"client","parent":"call_aa645c6693445d9575685659_0"}');
INSERT INTO adk_stream.call VALUES ('call_c5730d495e9fba6fc5e8aeb2_0', 'denied-by-policy', '{"id":"call_c5730d495e9fba6fc5e8aeb2_0","tool":"process_payment","input":{"amount":200,"recipient":"Sam","currency":"USD"},"place":"server"}');
INSERT INTO adk_stream.call VALUES ('call_a42201c155950d7d7867a273_0', 'failed-tool', '{"id":"call_a42201c155950d7d7867a273_0","tool":"process_payment","input":{"amount":20,"recipient":"Sam","currency":"USD"},"place":"server"}');
INSERT INTO adk_stream.call VALUES ('call_1386fbf1d1fb837f877a56f7_0', 'crashed-tool', '{"id":"call_1386fbf1d1fb837f877a56f7_0","tool":"process_payment","input":{"amount":13,"recipient":"Sam","currency":"USD"},"place":"server"}');
INSERT INTO adk_stream.call VALUES ('call_94d9b5f40f6334d76a8f5e18_0', 'report-pending', '{"id":"call_94d9b5f40f6334d76a8f5e18_0","tool":"write_report","input":{"topic":"tea"},"place":"server"}');
INSERT INTO adk_stream.call VALUES ('call_a326c081e893f8abd4395366_0', 'killed-in-a-tool', '{"id":"call_a326c081e893f8abd4395366_0","tool":"get_weather","input":{"location":"Tokyo"},"place":"server"}');
INSERT INTO adk_stream.call VALUES ('call_01dfc89f39606fe2ab8767e9_0', 'killed-in-an-idempotent-tool', '{"id":"call_01dfc89f39606fe2ab8767e9_0","tool":"set_mood","input":{"location":"London"},"place":"server"}');
INSERT INTO adk_stream.call VALUES ('call_edba14a1e9cd69cd26e22a30_0', 'killed-beside-an-approval', '{"id":"call_edba14a1e9cd69cd26e22a30_0","tool":"get_weather","input":{"location":"Tokyo"},"place":"server"}');
INSERT INTO adk_stream.call VALUES ('call_edba14a1e9cd69cd26e22a30_1', 'killed-beside-an-approval', '{"id":"call_edba14a1e9cd69cd26e22a30_1","tool":"book_flight","input":{"destination":"Oslo"},"place":"server"}');
INSERT INTO adk_stream.chat OVERRIDING SYSTEM VALUE VALUES ('unknown', 1, 'unknown', 1794879380825, 1794879380857, 4, NULL, '{}', false);
INSERT INTO adk_stream.chat OVERRIDING SYSTEM VALUE VALUES ('asked-by-policy', 2, 'asked-by-policy', 1794879380871, 1794879380877, 2, 'df476a2fb7157bd41e756b92', '{"turn":"df476a2fb7157bd41e756b92","calls":[{"id":"call_df476a2fb7157bd41e756b92_0","is_of_last_step":true}],"gates":[{"id":"gate_df476a2fb7157bd41e756b92_0","call":"call_df476a2fb7157bd41e756b92_0"}]}', false);
INSERT INTO adk_stream.chat OVERRIDING SYSTEM VALUE VALUES ('denied-by-policy', 6, 'denied-by-policy', 1794879380997, 1794879381005, 3, NULL, '{}', false);
INSERT INTO adk_stream.chat OVERRIDING SYSTEM VALUE VALUES ('edited-then-asked', 3, 'edited-then-asked', 1794879380882, 1794879380900, 5, 'f348aa938b75e67e496ab4fc', '{"turn":"f348aa938b75e67e496ab4fc","calls":[{"id":"call_f348aa938b75e67e496ab4fc_0","is_of_last_step":true,"is_started":true}],"gates":[{"id":"gate_f348aa938b75e67e496ab4fc_1","call":"call_f348aa938b75e67e496ab4fc_0"}]}', false);
INSERT INTO adk_stream.chat OVERRIDING SYSTEM VALUE VALUES ('edited-then-asked-to-be-denied', 4, 'edited-then-asked-to-be-denied', 1794879380909, 1794879380928, 5, '5c4a1ec0f5ecbf17e35c5f9b', '{"turn":"5c4a1ec0f5ecbf17e35c5f9b","calls":[{"id":"call_5c4a1ec0f5ecbf17e35c5f9b_0","is_of_last_step":true,"is_started":true}],"gates":[{"id":"gate_5c4a1ec0f5ecbf17e35c5f9b_1","call":"call_5c4a1ec0f5ecbf17e35c5f9b_0"}]}', false);
INSERT INTO adk_stream.chat OVERRIDING SYSTEM VALUE VALUES ('edited-then-page-call', 5, 'edited-then-page-call', 1794879380939, 1794879380985, 7, 'aa645c6693445d9575685659', '{"turn":"aa645c6693445d9575685659","calls":[{"id":"call_aa645c6693445d9575685659_0","is_of_last_step":true,"is_started":true},{"id":"call_aa645c6693445d9575685659_1","parent":"call_aa645c6693445d9575685659_0"}],"gates":[{"id":"gate_aa645c6693445d9575685659_2","call":"call_aa645c6693445d9575685659_1","parent":"call_aa645c6693445d9575685659_0"}]}', false);
INSERT INTO adk_stream.chat OVERRIDING SYSTEM VALUE VALUES ('failed-tool', 7, 'failed-tool', 1794879381011, 1794879381021, 4, NULL, '{}', false);
INSERT INTO adk_stream.chat OVERRIDING SYSTEM VALUE VALUES ('crashed-tool', 8, 'crashed-tool', 1794879381026, 1794879381037, 4, NULL, '{}', false);
INSERT INTO adk_stream.chat OVERRIDING SYSTEM VALUE VALUES ('report-pending', 9, 'report-pending', 1794879381042, 1794879381053, 4, NULL, '{}', false);
INSERT INTO adk_stream.chat OVERRIDING SYSTEM VALUE VALUES ('killed-in-a-tool', 10, 'killed-in-a-tool', 1794879381061, 1794879381064, 2, 'a326c081e893f8abd4395366', '{"turn":"a326c081e893f8abd4395366","calls":[{"id":"call_a326c081e893f8abd4395366_0","is_of_last_step":true,"is_started":true}]}', true);
INSERT INTO adk_stream.chat OVERRIDING SYSTEM VALUE VALUES ('killed-in-an-idempotent-tool', 11, 'killed-in-an-idempotent-tool', 1794879381071, 1794879381077, 2, '01dfc89f39606fe2ab8767e9', '{"turn":"01dfc89f39606fe2ab8767e9","calls":[{"id":"call_01dfc89f39606fe2ab8767e9_0","is_of_last_step":true,"is_started":true}]}', true);
INSERT INTO adk_stream.chat OVERRIDING SYSTEM VALUE VALUES ('killed-beside-an-approval', 12, 'killed-beside-an-approval', 1794879381083, 1794879381085, 2, 'edba14a1e9cd69cd26e22a30', '{"turn":"edba14a1e9cd69cd26e22a30","calls":[{"id":"call_edba14a1e9cd69cd26e22a30_0","is_of_last_step":true,"is_started":true},{"id":"call_edba14a1e9cd69cd26e22a30_1","is_of_last_step":true}],"gates":[{"id":"gate_edba14a1e9cd69cd26e22a30_0","call":"call_edba14a1e9cd69cd26e22a30_1"}]}', true);
INSERT INTO adk_stream.entry VALUES ('unknown', 1, 'c78c5676fbb92a7e5698d08b', 0, 'chat-opened,turn-opened', 'unknown', '[{"event":"chat-opened","owner":"unknown"},{"event":"turn-opened","turn":"c78c5676fbb92a7e5698d08b","messageId":"msg_c78c5676fbb92a7e5698d08b","cause":{"cause":"message","message":{"id":"u1","role":"user","parts":[{"type":"text","text":"What is the weather in Tokyo?"}]}}}]', 1794879380825);
INSERT INTO adk_stream.entry VALUES ('unknown', 2, 'c78c5676fbb92a7e5698d08b', 0, 'step-ended,call-started', 'unknown', '[{"event":"step-ended","turn":"c78c5676fbb92a7e5698d08b","parts":[{"part":"reasoning","text":"The user wants me to look up the weather in Tokyo."},{"part":"call","id":"call_c78c5676fbb92a7e5698d08b_0","tool":"get_weather","input":{"location":"Tokyo"},"place":"server"}],"finish":"stop","metadata":{"usage":{"promptTokens":6,"completionTokens":12,"totalTokens":18},"modelVersion":"demo-1"}},{"event":"call-started","turn":"c78c5676fbb92a7e5698d08b","call":"call_c78c5676fbb92a7e5698d08b_0"}]', 1794879380829);
INSERT INTO adk_stream.entry VALUES ('unknown', 3, 'c78c5676fbb92a7e5698d08b', 0, 'call-settled', 'unknown', '[{"event":"call-settled","turn":"c78c5676fbb92a7e5698d08b","call":"call_c78c5676fbb92a7e5698d08b_0","outcome":"unknown"}]', 1794879380853);
INSERT INTO adk_stream.entry VALUES ('unknown', 4, 'c78c5676fbb92a7e5698d08b', 0, 'step-ended,turn-ended', 'unknown', '[{"event":"step-ended","turn":"c78c5676fbb92a7e5698d08b","parts":[{"part":"text","text":"It is not known whether the weather lookup for Tokyo happened: it was started, and then nothing more was heard of it. Please check before you try again."}],"finish":"stop","metadata":{"usage":{"promptTokens":19,"completionTokens":28,"totalTokens":47},"modelVersion":"demo-1"}},{"event":"turn-ended","turn":"c78c5676fbb92a7e5698d08b","end":"finished"}]', 1794879380857);
INSERT INTO adk_stream.entry VALUES ('asked-by-policy', 1, 'df476a2fb7157bd41e756b92', 0, 'chat-opened,turn-opened', 'asked-by-policy', '[{"event":"chat-opened","owner":"asked-by-policy"},{"event":"turn-opened","turn":"df476a2fb7157bd41e756b92","messageId":"msg_df476a2fb7157bd41e756b92","cause":{"cause":"message","message":{"id":"u1","role":"user","parts":[{"type":"text","text":"Book a flight to Oslo"}]}}}]', 1794879380871);
INSERT INTO adk_stream.entry VALUES ('asked-by-policy', 2, 'df476a2fb7157bd41e756b92', 0, 'step-ended,gate-opened', 'asked-by-policy', '[{"event":"step-ended","turn":"df476a2fb7157bd41e756b92","parts":[{"part":"reasoning","text":"The user wants me to book a flight to Oslo."},{"part":"call","id":"call_df476a2fb7157bd41e756b92_0","tool":"book_flight","input":{"destination":"Oslo"},"place":"server"}],"finish":"stop","metadata":{"usage":{"promptTokens":5,"completionTokens":11,"totalTokens":16},"modelVersion":"demo-1"}},{"event":"gate-opened","turn":"df476a2fb7157bd41e756b92","gate":{"id":"gate_df476a2fb7157bd41e756b92_0","call":"call_df476a2fb7157bd41e756b92_0","kind":{"kind":"approval","question":"Look for a flight to Oslo?"}}}]', 1794879380877);
INSERT INTO adk_stream.entry VALUES ('edited-then-asked', 1, 'f348aa938b75e67e496ab4fc', 0, 'chat-opened,turn-opened', 'edited-then-asked', '[{"event":"chat-opened","owner":"edited-then-asked"},{"event":"turn-opened","turn":"f348aa938b75e67e496ab4fc","messageId":"msg_f348aa938b75e67e496ab4fc","cause":{"cause":"message","message":{"id":"u1","role":"user","parts":[{"type":"text","text":"Book a flight to Oslo"}]}}}]', 1794879380882);
INSERT INTO adk_stream.entry VALUES ('edited-then-asked', 2, 'f348aa938b75e67e496ab4fc', 0, 'step-ended,gate-opened', 'edited-then-asked', '[{"event":"step-ended","turn":"f348aa938b75e67e496ab4fc","parts":[{"part":"reasoning","text":"The user wants me to book a flight to Oslo."},{"part":"call","id":"call_f348aa938b75e67e496ab4fc_0","tool":"book_flight","input":{"destination":"Oslo"},"place":"server"}],"finish":"stop","metadata":{"usage":{"promptTokens":5,"completionTokens":11,"totalTokens":16},"modelVersion":"demo-1"}},{"event":"gate-opened","turn":"f348aa938b75e67e496ab4fc","gate":{"id":"gate_f348aa938b75e67e496ab4fc_0","call":"call_f348aa938b75e67e496ab4fc_0","kind":{"kind":"approval","question":"Look for a flight to Oslo?"}}}]', 1794879380885);
INSERT INTO adk_stream.entry VALUES ('edited-then-asked', 3, 'f348aa938b75e67e496ab4fc', 0, 'gate-closed,call-started', 'edited-then-asked', '[{"event":"gate-closed","turn":"f348aa938b75e67e496ab4fc","gate":"gate_f348aa938b75e67e496ab4fc_0","decision":"approved","input":{"destination":"Rome"}},{"event":"call-started","turn":"f348aa938b75e67e496ab4fc","call":"call_f348aa938b75e67e496ab4fc_0"}]', 1794879380891);
INSERT INTO adk_stream.entry VALUES ('edited-then-asked', 4, 'f348aa938b75e67e496ab4fc', 0, 'call-recorded', 'edited-then-asked', '[{"event":"call-recorded","turn":"f348aa938b75e67e496ab4fc","call":"call_f348aa938b75e67e496ab4fc_0","name":"seat","value":"12A to Rome"}]', 1794879380897);
INSERT INTO adk_stream.entry VALUES ('edited-then-asked', 5, 'f348aa938b75e67e496ab4fc', 0, 'gate-opened', 'edited-then-asked', '[{"event":"gate-opened","turn":"f348aa938b75e67e496ab4fc","gate":{"id":"gate_f348aa938b75e67e496ab4fc_1","call":"call_f348aa938b75e67e496ab4fc_0","kind":{"kind":"approval","question":"Take seat 12A to Rome?","within":true},"input":{"destination":"Rome"}}}]', 1794879380900);
INSERT INTO adk_stream.entry VALUES ('edited-then-asked-to-be-denied', 1, '5c4a1ec0f5ecbf17e35c5f9b', 0, 'chat-opened,turn-opened', 'edited-then-asked-to-be-denied', '[{"event":"chat-opened","owner":"edited-then-asked-to-be-denied"},{"event":"turn-opened","turn":"5c4a1ec0f5ecbf17e35c5f9b","messageId":"msg_5c4a1ec0f5ecbf17e35c5f9b","cause":{"cause":"message","message":{"id":"u1","role":"user","parts":[{"type":"text","text":"Book a flight to Oslo"}]}}}]', 1794879380909);
INSERT INTO adk_stream.entry VALUES ('edited-then-asked-to-be-denied', 2, '5c4a1ec0f5ecbf17e35c5f9b', 0, 'step-ended,gate-opened', 'edited-then-asked-to-be-denied', '[{"event":"step-ended","turn":"5c4a1ec0f5ecbf17e35c5f9b","parts":[{"part":"reasoning","text":"The user wants me to book a flight to Oslo."},{"part":"call","id":"call_5c4a1ec0f5ecbf17e35c5f9b_0","tool":"book_flight","input":{"destination":"Oslo"},"place":"server"}],"finish":"stop","metadata":{"usage":{"promptTokens":5,"completionTokens":11,"totalTokens":16},"modelVersion":"demo-1"}},{"event":"gate-opened","turn":"5c4a1ec0f5ecbf17e35c5f9b","gate":{"id":"gate_5c4a1ec0f5ecbf17e35c5f9b_0","call":"call_5c4a1ec0f5ecbf17e35c5f9b_0","kind":{"kind":"approval","question":"Look for a flight to Oslo?"}}}]', 1794879380913);
INSERT INTO adk_stream.entry VALUES ('edited-then-asked-to-be-denied', 3, '5c4a1ec0f5ecbf17e35c5f9b', 0, 'gate-closed,call-started', 'edited-then-asked-to-be-denied', '[{"event":"gate-closed","turn":"5c4a1ec0f5ecbf17e35c5f9b","gate":"gate_5c4a1ec0f5ecbf17e35c5f9b_0","decision":"approved","input":{"destination":"Rome"}},{"event":"call-started","turn":"5c4a1ec0f5ecbf17e35c5f9b","call":"call_5c4a1ec0f5ecbf17e35c5f9b_0"}]', 1794879380918);
INSERT INTO adk_stream.entry VALUES ('edited-then-asked-to-be-denied', 4, '5c4a1ec0f5ecbf17e35c5f9b', 0, 'call-recorded', 'edited-then-asked-to-be-denied', '[{"event":"call-recorded","turn":"5c4a1ec0f5ecbf17e35c5f9b","call":"call_5c4a1ec0f5ecbf17e35c5f9b_0","name":"seat","value":"12A to Rome"}]', 1794879380920);
INSERT INTO adk_stream.entry VALUES ('edited-then-asked-to-be-denied', 5, '5c4a1ec0f5ecbf17e35c5f9b', 0, 'gate-opened', 'edited-then-asked-to-be-denied', '[{"event":"gate-opened","turn":"5c4a1ec0f5ecbf17e35c5f9b","gate":{"id":"gate_5c4a1ec0f5ecbf17e35c5f9b_1","call":"call_5c4a1ec0f5ecbf17e35c5f9b_0","kind":{"kind":"approval","question":"Take seat 12A to Rome?","within":true},"input":{"destination":"Rome"}}}]', 1794879380928);
INSERT INTO adk_stream.entry VALUES ('edited-then-page-call', 1, 'aa645c6693445d9575685659', 0, 'chat-opened,turn-opened', 'edited-then-page-call', '[{"event":"chat-opened","owner":"edited-then-page-call"},{"event":"turn-opened","turn":"aa645c6693445d9575685659","messageId":"msg_aa645c6693445d9575685659","cause":{"cause":"message","message":{"id":"u1","role":"user","parts":[{"type":"text","text":"Book a flight to Oslo"}]}}}]', 1794879380939);
INSERT INTO adk_stream.entry VALUES ('edited-then-page-call', 2, 'aa645c6693445d9575685659', 0, 'step-ended,gate-opened', 'edited-then-page-call', '[{"event":"step-ended","turn":"aa645c6693445d9575685659","parts":[{"part":"reasoning","text":"The user wants me to book a flight to Oslo."},{"part":"call","id":"call_aa645c6693445d9575685659_0","tool":"book_flight","input":{"destination":"Oslo"},"place":"server"}],"finish":"stop","metadata":{"usage":{"promptTokens":5,"completionTokens":11,"totalTokens":16},"modelVersion":"demo-1"}},{"event":"gate-opened","turn":"aa645c6693445d9575685659","gate":{"id":"gate_aa645c6693445d9575685659_0","call":"call_aa645c6693445d9575685659_0","kind":{"kind":"approval","question":"Look for a flight to Oslo?"}}}]', 1794879380941);
INSERT INTO adk_stream.entry VALUES ('edited-then-page-call', 3, 'aa645c6693445d9575685659', 0, 'gate-closed,call-started', 'edited-then-page-call', '[{"event":"gate-closed","turn":"aa645c6693445d9575685659","gate":"gate_aa645c6693445d9575685659_0","decision":"approved","input":{"destination":"Rome"}},{"event":"call-started","turn":"aa645c6693445d9575685659","call":"call_aa645c6693445d9575685659_0"}]', 1794879380954);
INSERT INTO adk_stream.entry VALUES ('edited-then-page-call', 4, 'aa645c6693445d9575685659', 0, 'call-recorded', 'edited-then-page-call', '[{"event":"call-recorded","turn":"aa645c6693445d9575685659","call":"call_aa645c6693445d9575685659_0","name":"seat","value":"12A to Rome"}]', 1794879380959);
INSERT INTO adk_stream.entry VALUES ('edited-then-page-call', 5, 'aa645c6693445d9575685659', 0, 'gate-opened', 'edited-then-page-call', '[{"event":"gate-opened","turn":"aa645c6693445d9575685659","gate":{"id":"gate_aa645c6693445d9575685659_1","call":"call_aa645c6693445d9575685659_0","kind":{"kind":"approval","question":"Take seat 12A to Rome?","within":true},"input":{"destination":"Rome"}}}]', 1794879380964);
INSERT INTO adk_stream.entry VALUES ('edited-then-page-call', 6, 'aa645c6693445d9575685659', 0, 'gate-closed', 'edited-then-page-call', '[{"event":"gate-closed","turn":"aa645c6693445d9575685659","gate":"gate_aa645c6693445d9575685659_1","decision":"approved"}]', 1794879380980);
INSERT INTO adk_stream.entry VALUES ('edited-then-page-call', 7, 'aa645c6693445d9575685659', 0, 'call-nested,gate-opened', 'edited-then-page-call', '[{"event":"call-nested","turn":"aa645c6693445d9575685659","call":{"id":"call_aa645c6693445d9575685659_1","tool":"change_bgm","input":{"track":2},"place":"client","parent":"call_aa645c6693445d9575685659_0"}},{"event":"gate-opened","turn":"aa645c6693445d9575685659","gate":{"id":"gate_aa645c6693445d9575685659_2","call":"call_aa645c6693445d9575685659_1","kind":{"kind":"client-call"}}}]', 1794879380985);
INSERT INTO adk_stream.entry VALUES ('denied-by-policy', 1, 'c5730d495e9fba6fc5e8aeb2', 0, 'chat-opened,turn-opened', 'denied-by-policy', '[{"event":"chat-opened","owner":"denied-by-policy"},{"event":"turn-opened","turn":"c5730d495e9fba6fc5e8aeb2","messageId":"msg_c5730d495e9fba6fc5e8aeb2","cause":{"cause":"message","message":{"id":"u1","role":"user","parts":[{"type":"text","text":"Send $200 to Sam"}]}}}]', 1794879380997);
INSERT INTO adk_stream.entry VALUES ('denied-by-policy', 2, 'c5730d495e9fba6fc5e8aeb2', 0, 'step-ended,call-settled', 'denied-by-policy', '[{"event":"step-ended","turn":"c5730d495e9fba6fc5e8aeb2","parts":[{"part":"reasoning","text":"The user wants me to send $200 to Sam."},{"part":"call","id":"call_c5730d495e9fba6fc5e8aeb2_0","tool":"process_payment","input":{"amount":200,"recipient":"Sam","currency":"USD"},"place":"server"}],"finish":"stop","metadata":{"usage":{"promptTokens":4,"completionTokens":10,"totalTokens":14},"modelVersion":"demo-1"}},{"event":"call-settled","turn":"c5730d495e9fba6fc5e8aeb2","call":"call_c5730d495e9fba6fc5e8aeb2_0","outcome":"denied","reason":"That is more than anybody may send."}]', 1794879381001);
INSERT INTO adk_stream.entry VALUES ('denied-by-policy', 3, 'c5730d495e9fba6fc5e8aeb2', 0, 'step-ended,turn-ended', 'denied-by-policy', '[{"event":"step-ended","turn":"c5730d495e9fba6fc5e8aeb2","parts":[{"part":"text","text":"You denied the payment to Sam: That is more than anybody may send."}],"finish":"stop","metadata":{"usage":{"promptTokens":21,"completionTokens":13,"totalTokens":34},"modelVersion":"demo-1"}},{"event":"turn-ended","turn":"c5730d495e9fba6fc5e8aeb2","end":"finished"}]', 1794879381005);
INSERT INTO adk_stream.entry VALUES ('failed-tool', 1, 'a42201c155950d7d7867a273', 0, 'chat-opened,turn-opened', 'failed-tool', '[{"event":"chat-opened","owner":"failed-tool"},{"event":"turn-opened","turn":"a42201c155950d7d7867a273","messageId":"msg_a42201c155950d7d7867a273","cause":{"cause":"message","message":{"id":"u1","role":"user","parts":[{"type":"text","text":"Send $20 to Sam"}]}}}]', 1794879381011);
INSERT INTO adk_stream.entry VALUES ('failed-tool', 2, 'a42201c155950d7d7867a273', 0, 'step-ended,call-started', 'failed-tool', '[{"event":"step-ended","turn":"a42201c155950d7d7867a273","parts":[{"part":"reasoning","text":"The user wants me to send $20 to Sam."},{"part":"call","id":"call_a42201c155950d7d7867a273_0","tool":"process_payment","input":{"amount":20,"recipient":"Sam","currency":"USD"},"place":"server"}],"finish":"stop","metadata":{"usage":{"promptTokens":4,"completionTokens":10,"totalTokens":14},"modelVersion":"demo-1"}},{"event":"call-started","turn":"a42201c155950d7d7867a273","call":"call_a42201c155950d7d7867a273_0"}]', 1794879381013);
INSERT INTO adk_stream.entry VALUES ('failed-tool', 3, 'a42201c155950d7d7867a273', 0, 'call-settled', 'failed-tool', '[{"event":"call-settled","turn":"a42201c155950d7d7867a273","call":"call_a42201c155950d7d7867a273_0","outcome":"error","error":"Sam has no account."}]', 1794879381017);
INSERT INTO adk_stream.entry VALUES ('failed-tool', 4, 'a42201c155950d7d7867a273', 0, 'step-ended,turn-ended', 'failed-tool', '[{"event":"step-ended","turn":"a42201c155950d7d7867a273","parts":[{"part":"text","text":"The payment of $20 to Sam failed: Sam has no account."}],"finish":"stop","metadata":{"usage":{"promptTokens":18,"completionTokens":11,"totalTokens":29},"modelVersion":"demo-1"}},{"event":"turn-ended","turn":"a42201c155950d7d7867a273","end":"finished"}]', 1794879381021);
INSERT INTO adk_stream.entry VALUES ('crashed-tool', 1, '1386fbf1d1fb837f877a56f7', 0, 'chat-opened,turn-opened', 'crashed-tool', '[{"event":"chat-opened","owner":"crashed-tool"},{"event":"turn-opened","turn":"1386fbf1d1fb837f877a56f7","messageId":"msg_1386fbf1d1fb837f877a56f7","cause":{"cause":"message","message":{"id":"u1","role":"user","parts":[{"type":"text","text":"Send $13 to Sam"}]}}}]', 1794879381026);
INSERT INTO adk_stream.entry VALUES ('crashed-tool', 2, '1386fbf1d1fb837f877a56f7', 0, 'step-ended,call-started', 'crashed-tool', '[{"event":"step-ended","turn":"1386fbf1d1fb837f877a56f7","parts":[{"part":"reasoning","text":"The user wants me to send $13 to Sam."},{"part":"call","id":"call_1386fbf1d1fb837f877a56f7_0","tool":"process_payment","input":{"amount":13,"recipient":"Sam","currency":"USD"},"place":"server"}],"finish":"stop","metadata":{"usage":{"promptTokens":4,"completionTokens":10,"totalTokens":14},"modelVersion":"demo-1"}},{"event":"call-started","turn":"1386fbf1d1fb837f877a56f7","call":"call_1386fbf1d1fb837f877a56f7_0"}]', 1794879381029);
INSERT INTO adk_stream.entry VALUES ('crashed-tool', 3, '1386fbf1d1fb837f877a56f7', 0, 'call-settled', 'crashed-tool', '[{"event":"call-settled","turn":"1386fbf1d1fb837f877a56f7","call":"call_1386fbf1d1fb837f877a56f7_0","outcome":"error","error":"The tool crashed."}]', 1794879381034);
INSERT INTO adk_stream.entry VALUES ('crashed-tool', 4, '1386fbf1d1fb837f877a56f7', 0, 'step-ended,turn-ended', 'crashed-tool', '[{"event":"step-ended","turn":"1386fbf1d1fb837f877a56f7","parts":[{"part":"text","text":"The payment of $13 to Sam failed: The tool crashed."}],"finish":"stop","metadata":{"usage":{"promptTokens":17,"completionTokens":10,"totalTokens":27},"modelVersion":"demo-1"}},{"event":"turn-ended","turn":"1386fbf1d1fb837f877a56f7","end":"finished"}]', 1794879381037);
INSERT INTO adk_stream.entry VALUES ('report-pending', 1, '94d9b5f40f6334d76a8f5e18', 0, 'chat-opened,turn-opened', 'report-pending', '[{"event":"chat-opened","owner":"report-pending"},{"event":"turn-opened","turn":"94d9b5f40f6334d76a8f5e18","messageId":"msg_94d9b5f40f6334d76a8f5e18","cause":{"cause":"message","message":{"id":"u1","role":"user","parts":[{"type":"text","text":"Write a report about tea"}]}}}]', 1794879381042);
INSERT INTO adk_stream.entry VALUES ('report-pending', 2, '94d9b5f40f6334d76a8f5e18', 0, 'step-ended,call-started', 'report-pending', '[{"event":"step-ended","turn":"94d9b5f40f6334d76a8f5e18","parts":[{"part":"reasoning","text":"The user wants me to have a report written about tea."},{"part":"call","id":"call_94d9b5f40f6334d76a8f5e18_0","tool":"write_report","input":{"topic":"tea"},"place":"server"}],"finish":"stop","metadata":{"usage":{"promptTokens":5,"completionTokens":12,"totalTokens":17},"modelVersion":"demo-1"}},{"event":"call-started","turn":"94d9b5f40f6334d76a8f5e18","call":"call_94d9b5f40f6334d76a8f5e18_0"}]', 1794879381045);
INSERT INTO adk_stream.entry VALUES ('report-pending', 3, '94d9b5f40f6334d76a8f5e18', 0, 'call-settled', 'report-pending', '[{"event":"call-settled","turn":"94d9b5f40f6334d76a8f5e18","call":"call_94d9b5f40f6334d76a8f5e18_0","outcome":"pending","output":{"status":"pending","topic":"tea"}}]', 1794879381049);
INSERT INTO adk_stream.entry VALUES ('report-pending', 4, '94d9b5f40f6334d76a8f5e18', 0, 'step-ended,turn-ended', 'report-pending', '[{"event":"step-ended","turn":"94d9b5f40f6334d76a8f5e18","parts":[{"part":"text","text":"I have started the report about tea. It takes a while; I will come back when it is finished."}],"finish":"stop","metadata":{"usage":{"promptTokens":18,"completionTokens":19,"totalTokens":37},"modelVersion":"demo-1"}},{"event":"turn-ended","turn":"94d9b5f40f6334d76a8f5e18","end":"finished"}]', 1794879381053);
INSERT INTO adk_stream.entry VALUES ('killed-in-a-tool', 1, 'a326c081e893f8abd4395366', 0, 'chat-opened,turn-opened', 'killed-in-a-tool', '[{"event":"chat-opened","owner":"killed-in-a-tool"},{"event":"turn-opened","turn":"a326c081e893f8abd4395366","messageId":"msg_a326c081e893f8abd4395366","cause":{"cause":"message","message":{"id":"u1","role":"user","parts":[{"type":"text","text":"What is the weather in Tokyo?"}]}}}]', 1794879381061);
INSERT INTO adk_stream.entry VALUES ('killed-in-a-tool', 2, 'a326c081e893f8abd4395366', 0, 'step-ended,call-started', 'killed-in-a-tool', '[{"event":"step-ended","turn":"a326c081e893f8abd4395366","parts":[{"part":"reasoning","text":"The user wants me to look up the weather in Tokyo."},{"part":"call","id":"call_a326c081e893f8abd4395366_0","tool":"get_weather","input":{"location":"Tokyo"},"place":"server"}],"finish":"stop","metadata":{"usage":{"promptTokens":6,"completionTokens":12,"totalTokens":18},"modelVersion":"demo-1"}},{"event":"call-started","turn":"a326c081e893f8abd4395366","call":"call_a326c081e893f8abd4395366_0"}]', 1794879381064);
INSERT INTO adk_stream.entry VALUES ('killed-in-an-idempotent-tool', 1, '01dfc89f39606fe2ab8767e9', 0, 'chat-opened,turn-opened', 'killed-in-an-idempotent-tool', '[{"event":"chat-opened","owner":"killed-in-an-idempotent-tool"},{"event":"turn-opened","turn":"01dfc89f39606fe2ab8767e9","messageId":"msg_01dfc89f39606fe2ab8767e9","cause":{"cause":"message","message":{"id":"u1","role":"user","parts":[{"type":"text","text":"Set the mood for London"}]}}}]', 1794879381071);
INSERT INTO adk_stream.entry VALUES ('killed-in-an-idempotent-tool', 2, '01dfc89f39606fe2ab8767e9', 0, 'step-ended,call-started', 'killed-in-an-idempotent-tool', '[{"event":"step-ended","turn":"01dfc89f39606fe2ab8767e9","parts":[{"part":"reasoning","text":"The user wants me to set the mood of London."},{"part":"call","id":"call_01dfc89f39606fe2ab8767e9_0","tool":"set_mood","input":{"location":"London"},"place":"server"}],"finish":"stop","metadata":{"usage":{"promptTokens":5,"completionTokens":11,"totalTokens":16},"modelVersion":"demo-1"}},{"event":"call-started","turn":"01dfc89f39606fe2ab8767e9","call":"call_01dfc89f39606fe2ab8767e9_0"}]', 1794879381077);
INSERT INTO adk_stream.entry VALUES ('killed-beside-an-approval', 1, 'edba14a1e9cd69cd26e22a30', 0, 'chat-opened,turn-opened', 'killed-beside-an-approval', '[{"event":"chat-opened","owner":"killed-beside-an-approval"},{"event":"turn-opened","turn":"edba14a1e9cd69cd26e22a30","messageId":"msg_edba14a1e9cd69cd26e22a30","cause":{"cause":"message","message":{"id":"u1","role":"user","parts":[{"type":"text","text":"What is the weather in Tokyo and book a flight to Oslo"}]}}}]', 1794879381083);
INSERT INTO adk_stream.entry VALUES ('killed-beside-an-approval', 2, 'edba14a1e9cd69cd26e22a30', 0, 'step-ended,call-started,gate-opened', 'killed-beside-an-approval', '[{"event":"step-ended","turn":"edba14a1e9cd69cd26e22a30","parts":[{"part":"reasoning","text":"The user wants me to look up the weather in Tokyo and book a flight to Oslo. I can ask for all of it at once."},{"part":"call","id":"call_edba14a1e9cd69cd26e22a30_0","tool":"get_weather","input":{"location":"Tokyo"},"place":"server"},{"part":"call","id":"call_edba14a1e9cd69cd26e22a30_1","tool":"book_flight","input":{"destination":"Oslo"},"place":"server"}],"finish":"stop","metadata":{"usage":{"promptTokens":12,"completionTokens":28,"totalTokens":40},"modelVersion":"demo-1"}},{"event":"call-started","turn":"edba14a1e9cd69cd26e22a30","call":"call_edba14a1e9cd69cd26e22a30_0"},{"event":"gate-opened","turn":"edba14a1e9cd69cd26e22a30","gate":{"id":"gate_edba14a1e9cd69cd26e22a30_0","call":"call_edba14a1e9cd69cd26e22a30_1","kind":{"kind":"approval","question":"Look for a flight to Oslo?"}}}]', 1794879381085);
INSERT INTO adk_stream.gate OVERRIDING SYSTEM VALUE VALUES (1, 'gate_df476a2fb7157bd41e756b92_0', 'asked-by-policy', 'df476a2fb7157bd41e756b92', 'asked-by-policy', 'call_df476a2fb7157bd41e756b92_0', '{"id":"gate_df476a2fb7157bd41e756b92_0","call":"call_df476a2fb7157bd41e756b92_0","kind":{"kind":"approval","question":"Look for a flight to Oslo?"}}', 1794879380877, NULL, NULL, NULL, NULL);
INSERT INTO adk_stream.gate OVERRIDING SYSTEM VALUE VALUES (2, 'gate_f348aa938b75e67e496ab4fc_0', 'edited-then-asked', 'f348aa938b75e67e496ab4fc', 'edited-then-asked', 'call_f348aa938b75e67e496ab4fc_0', '{"id":"gate_f348aa938b75e67e496ab4fc_0","call":"call_f348aa938b75e67e496ab4fc_0","kind":{"kind":"approval","question":"Look for a flight to Oslo?"}}', 1794879380885, NULL, '{"decision":"approved","input":{"destination":"Rome"}}', 'edited-then-asked', 1794879380891);
INSERT INTO adk_stream.gate OVERRIDING SYSTEM VALUE VALUES (3, 'gate_f348aa938b75e67e496ab4fc_1', 'edited-then-asked', 'f348aa938b75e67e496ab4fc', 'edited-then-asked', 'call_f348aa938b75e67e496ab4fc_0', '{"id":"gate_f348aa938b75e67e496ab4fc_1","call":"call_f348aa938b75e67e496ab4fc_0","kind":{"kind":"approval","question":"Take seat 12A to Rome?","within":true},"input":{"destination":"Rome"}}', 1794879380900, NULL, NULL, NULL, NULL);
INSERT INTO adk_stream.gate OVERRIDING SYSTEM VALUE VALUES (4, 'gate_5c4a1ec0f5ecbf17e35c5f9b_0', 'edited-then-asked-to-be-denied', '5c4a1ec0f5ecbf17e35c5f9b', 'edited-then-asked-to-be-denied', 'call_5c4a1ec0f5ecbf17e35c5f9b_0', '{"id":"gate_5c4a1ec0f5ecbf17e35c5f9b_0","call":"call_5c4a1ec0f5ecbf17e35c5f9b_0","kind":{"kind":"approval","question":"Look for a flight to Oslo?"}}', 1794879380913, NULL, '{"decision":"approved","input":{"destination":"Rome"}}', 'edited-then-asked-to-be-denied', 1794879380918);
INSERT INTO adk_stream.gate OVERRIDING SYSTEM VALUE VALUES (5, 'gate_5c4a1ec0f5ecbf17e35c5f9b_1', 'edited-then-asked-to-be-denied', '5c4a1ec0f5ecbf17e35c5f9b', 'edited-then-asked-to-be-denied', 'call_5c4a1ec0f5ecbf17e35c5f9b_0', '{"id":"gate_5c4a1ec0f5ecbf17e35c5f9b_1","call":"call_5c4a1ec0f5ecbf17e35c5f9b_0","kind":{"kind":"approval","question":"Take seat 12A to Rome?","within":true},"input":{"destination":"Rome"}}', 1794879380928, NULL, NULL, NULL, NULL);
INSERT INTO adk_stream.gate OVERRIDING SYSTEM VALUE VALUES (6, 'gate_aa645c6693445d9575685659_0', 'edited-then-page-call', 'aa645c6693445d9575685659', 'edited-then-page-call', 'call_aa645c6693445d9575685659_0', '{"id":"gate_aa645c6693445d9575685659_0","call":"call_aa645c6693445d9575685659_0","kind":{"kind":"approval","question":"Look for a flight to Oslo?"}}', 1794879380941, NULL, '{"decision":"approved","input":{"destination":"Rome"}}', 'edited-then-page-call', 1794879380954);
INSERT INTO adk_stream.gate OVERRIDING SYSTEM VALUE VALUES (7, 'gate_aa645c6693445d9575685659_1', 'edited-then-page-call', 'aa645c6693445d9575685659', 'edited-then-page-call', 'call_aa645c6693445d9575685659_0', '{"id":"gate_aa645c6693445d9575685659_1","call":"call_aa645c6693445d9575685659_0","kind":{"kind":"approval","question":"Take seat 12A to Rome?","within":true},"input":{"destination":"Rome"}}', 1794879380964, NULL, '{"decision":"approved"}', 'edited-then-page-call', 1794879380980);
INSERT INTO adk_stream.gate OVERRIDING SYSTEM VALUE VALUES (8, 'gate_aa645c6693445d9575685659_2', 'edited-then-page-call', 'aa645c6693445d9575685659', 'edited-then-page-call', 'call_aa645c6693445d9575685659_1', '{"id":"gate_aa645c6693445d9575685659_2","call":"call_aa645c6693445d9575685659_1","kind":{"kind":"client-call"}}', 1794879380985, NULL, NULL, NULL, NULL);
INSERT INTO adk_stream.gate OVERRIDING SYSTEM VALUE VALUES (9, 'gate_edba14a1e9cd69cd26e22a30_0', 'killed-beside-an-approval', 'edba14a1e9cd69cd26e22a30', 'killed-beside-an-approval', 'call_edba14a1e9cd69cd26e22a30_1', '{"id":"gate_edba14a1e9cd69cd26e22a30_0","call":"call_edba14a1e9cd69cd26e22a30_1","kind":{"kind":"approval","question":"Look for a flight to Oslo?"}}', 1794879381085, NULL, NULL, NULL, NULL);
INSERT INTO adk_stream.version VALUES (3);
SELECT pg_catalog.setval('adk_stream.chat_position_seq', 12, true);
SELECT pg_catalog.setval('adk_stream.gate_position_seq', 9, true);
SELECT pg_catalog.setval('adk_stream.payment_position_seq', 1, false);
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
