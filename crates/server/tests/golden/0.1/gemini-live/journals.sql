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
INSERT INTO adk_stream.call VALUES ('call_2fef4fb04852425e8446538a_0', 'approval-open', '{"id":"call_2fef4fb04852425e8446538a_0","providerId":"function-call-60fb3c64-3","tool":"process_payment","input":{"amount":20,"recipient":"Sam","currency":"USD"},"place":"server"}');
INSERT INTO adk_stream.call VALUES ('call_bbec28f7c9355a1817e582e8_0', 'approval-open-to-be-denied', '{"id":"call_bbec28f7c9355a1817e582e8_0","providerId":"function-call-60fb3c64-6","tool":"process_payment","input":{"amount":20,"recipient":"Sam","currency":"USD"},"place":"server"}');
INSERT INTO adk_stream.call VALUES ('call_499973af8c4506c124cd70c7_0', 'page-call-open', '{"id":"call_499973af8c4506c124cd70c7_0","providerId":"function-call-60fb3c64-9","tool":"change_bgm","input":{"track":1},"place":"client"}');
INSERT INTO adk_stream.call VALUES ('call_2a31c6dcbd0c4054c4ac7848_0', 'finished', '{"id":"call_2a31c6dcbd0c4054c4ac7848_0","providerId":"function-call-60fb3c64-12","tool":"get_weather","input":{"location":"Tokyo"},"place":"server"}');
INSERT INTO adk_stream.call VALUES ('call_5a858c210dc84f846eb8f67d_0', 'spoken', '{"id":"call_5a858c210dc84f846eb8f67d_0","providerId":"function-call-60fb3c64-17","tool":"get_weather","input":{"location":"Tokyo"},"place":"server"}');
INSERT INTO adk_stream.call VALUES ('call_5b1ea93e115caa8cd7fe382f_0', 'taken-back', '{"id":"call_5b1ea93e115caa8cd7fe382f_0","providerId":"function-call-60fb3c64-21","tool":"process_payment","input":{"amount":20,"recipient":"Sam","currency":"USD"},"place":"server"}');
INSERT INTO adk_stream.chat OVERRIDING SYSTEM VALUE VALUES ('approval-open', 1, 'approval-open', 1794879383569, 1794879383589, 2, '2fef4fb04852425e8446538a', '{"turn":"2fef4fb04852425e8446538a","calls":[{"id":"call_2fef4fb04852425e8446538a_0","is_of_last_step":true}],"gates":[{"id":"gate_2fef4fb04852425e8446538a_0","call":"call_2fef4fb04852425e8446538a_0"}]}', false);
INSERT INTO adk_stream.chat OVERRIDING SYSTEM VALUE VALUES ('approval-open-to-be-denied', 2, 'approval-open-to-be-denied', 1794879383602, 1794879383614, 2, 'bbec28f7c9355a1817e582e8', '{"turn":"bbec28f7c9355a1817e582e8","calls":[{"id":"call_bbec28f7c9355a1817e582e8_0","is_of_last_step":true}],"gates":[{"id":"gate_bbec28f7c9355a1817e582e8_0","call":"call_bbec28f7c9355a1817e582e8_0"}]}', false);
INSERT INTO adk_stream.chat OVERRIDING SYSTEM VALUE VALUES ('page-call-open', 3, 'page-call-open', 1794879383626, 1794879383639, 2, '499973af8c4506c124cd70c7', '{"turn":"499973af8c4506c124cd70c7","calls":[{"id":"call_499973af8c4506c124cd70c7_0","is_of_last_step":true}],"gates":[{"id":"gate_499973af8c4506c124cd70c7_0","call":"call_499973af8c4506c124cd70c7_0"}]}', false);
INSERT INTO adk_stream.chat OVERRIDING SYSTEM VALUE VALUES ('finished', 4, 'finished', 1794879383649, 1794879383848, 8, NULL, '{}', false);
INSERT INTO adk_stream.chat OVERRIDING SYSTEM VALUE VALUES ('spoken', 5, 'spoken', 1794879383864, 1794879383920, 5, NULL, '{}', false);
INSERT INTO adk_stream.chat OVERRIDING SYSTEM VALUE VALUES ('taken-back', 6, 'taken-back', 1794879383926, 1794879384028, 5, NULL, '{}', false);
INSERT INTO adk_stream.entry VALUES ('approval-open', 1, '2fef4fb04852425e8446538a', 0, 'chat-opened,turn-opened', 'approval-open', '[{"event":"chat-opened","owner":"approval-open"},{"event":"turn-opened","turn":"2fef4fb04852425e8446538a","messageId":"msg_2fef4fb04852425e8446538a","cause":{"cause":"message","message":{"id":"u1","role":"user","parts":[{"type":"text","text":"Send $20 to Sam"}]}}}]', 1794879383569);
INSERT INTO adk_stream.entry VALUES ('approval-open', 2, '2fef4fb04852425e8446538a', 0, 'step-ended,session-noted,gate-opened', 'approval-open', '[{"event":"step-ended","turn":"2fef4fb04852425e8446538a","parts":[{"part":"call","id":"call_2fef4fb04852425e8446538a_0","providerId":"function-call-60fb3c64-3","tool":"process_payment","input":{"amount":20,"recipient":"Sam","currency":"USD"},"place":"server"}],"finish":"stop","metadata":{"modelVersion":"gemini-2.5-flash-native-audio-latest"}},{"event":"session-noted","turn":"2fef4fb04852425e8446538a","session":{"items":1,"last":"11248443508746796957","calls":[{"tool":"process_payment","id":"function-call-60fb3c64-3"}],"opened":"seeded"}},{"event":"gate-opened","turn":"2fef4fb04852425e8446538a","gate":{"id":"gate_2fef4fb04852425e8446538a_0","call":"call_2fef4fb04852425e8446538a_0","kind":{"kind":"approval","question":"Send 20 USD to Sam?"}}}]', 1794879383589);
INSERT INTO adk_stream.entry VALUES ('approval-open-to-be-denied', 1, 'bbec28f7c9355a1817e582e8', 0, 'chat-opened,turn-opened', 'approval-open-to-be-denied', '[{"event":"chat-opened","owner":"approval-open-to-be-denied"},{"event":"turn-opened","turn":"bbec28f7c9355a1817e582e8","messageId":"msg_bbec28f7c9355a1817e582e8","cause":{"cause":"message","message":{"id":"u1","role":"user","parts":[{"type":"text","text":"Send $20 to Sam"}]}}}]', 1794879383602);
INSERT INTO adk_stream.entry VALUES ('approval-open-to-be-denied', 2, 'bbec28f7c9355a1817e582e8', 0, 'step-ended,session-noted,gate-opened', 'approval-open-to-be-denied', '[{"event":"step-ended","turn":"bbec28f7c9355a1817e582e8","parts":[{"part":"call","id":"call_bbec28f7c9355a1817e582e8_0","providerId":"function-call-60fb3c64-6","tool":"process_payment","input":{"amount":20,"recipient":"Sam","currency":"USD"},"place":"server"}],"finish":"stop","metadata":{"modelVersion":"gemini-2.5-flash-native-audio-latest"}},{"event":"session-noted","turn":"bbec28f7c9355a1817e582e8","session":{"items":1,"last":"11248443508746796957","calls":[{"tool":"process_payment","id":"function-call-60fb3c64-6"}],"opened":"seeded"}},{"event":"gate-opened","turn":"bbec28f7c9355a1817e582e8","gate":{"id":"gate_bbec28f7c9355a1817e582e8_0","call":"call_bbec28f7c9355a1817e582e8_0","kind":{"kind":"approval","question":"Send 20 USD to Sam?"}}}]', 1794879383614);
INSERT INTO adk_stream.entry VALUES ('page-call-open', 1, '499973af8c4506c124cd70c7', 0, 'chat-opened,turn-opened', 'page-call-open', '[{"event":"chat-opened","owner":"page-call-open"},{"event":"turn-opened","turn":"499973af8c4506c124cd70c7","messageId":"msg_499973af8c4506c124cd70c7","cause":{"cause":"message","message":{"id":"u1","role":"user","parts":[{"type":"text","text":"Play track 1"}]}}}]', 1794879383626);
INSERT INTO adk_stream.entry VALUES ('page-call-open', 2, '499973af8c4506c124cd70c7', 0, 'step-ended,session-noted,gate-opened', 'page-call-open', '[{"event":"step-ended","turn":"499973af8c4506c124cd70c7","parts":[{"part":"call","id":"call_499973af8c4506c124cd70c7_0","providerId":"function-call-60fb3c64-9","tool":"change_bgm","input":{"track":1},"place":"client"}],"finish":"stop","metadata":{"modelVersion":"gemini-2.5-flash-native-audio-latest"}},{"event":"session-noted","turn":"499973af8c4506c124cd70c7","session":{"items":1,"last":"4005399124309692984","calls":[{"tool":"change_bgm","id":"function-call-60fb3c64-9"}],"opened":"seeded"}},{"event":"gate-opened","turn":"499973af8c4506c124cd70c7","gate":{"id":"gate_499973af8c4506c124cd70c7_0","call":"call_499973af8c4506c124cd70c7_0","kind":{"kind":"client-call"}}}]', 1794879383639);
INSERT INTO adk_stream.entry VALUES ('finished', 1, '2a31c6dcbd0c4054c4ac7848', 0, 'chat-opened,turn-opened', 'finished', '[{"event":"chat-opened","owner":"finished"},{"event":"turn-opened","turn":"2a31c6dcbd0c4054c4ac7848","messageId":"msg_2a31c6dcbd0c4054c4ac7848","cause":{"cause":"message","message":{"id":"u1","role":"user","parts":[{"type":"text","text":"What is the weather in Tokyo?"}]}}}]', 1794879383649);
INSERT INTO adk_stream.entry VALUES ('finished', 2, '2a31c6dcbd0c4054c4ac7848', 0, 'step-ended,session-noted,call-started', 'finished', '[{"event":"step-ended","turn":"2a31c6dcbd0c4054c4ac7848","parts":[{"part":"call","id":"call_2a31c6dcbd0c4054c4ac7848_0","providerId":"function-call-60fb3c64-12","tool":"get_weather","input":{"location":"Tokyo"},"place":"server"}],"finish":"stop","metadata":{"modelVersion":"gemini-2.5-flash-native-audio-latest"}},{"event":"session-noted","turn":"2a31c6dcbd0c4054c4ac7848","session":{"items":1,"last":"7825792133694355964","calls":[{"tool":"get_weather","id":"function-call-60fb3c64-12"}],"opened":"seeded"}},{"event":"call-started","turn":"2a31c6dcbd0c4054c4ac7848","call":"call_2a31c6dcbd0c4054c4ac7848_0"}]', 1794879383662);
INSERT INTO adk_stream.entry VALUES ('finished', 3, '2a31c6dcbd0c4054c4ac7848', 0, 'call-settled', 'finished', '[{"event":"call-settled","turn":"2a31c6dcbd0c4054c4ac7848","call":"call_2a31c6dcbd0c4054c4ac7848_0","outcome":"output","output":{"temperature":18,"condition":"Cloudy","humidity":65,"location":"Tokyo"}}]', 1794879383669);
INSERT INTO adk_stream.entry VALUES ('finished', 4, '2a31c6dcbd0c4054c4ac7848', 0, 'step-ended,session-noted,turn-ended', 'finished', '[{"event":"step-ended","turn":"2a31c6dcbd0c4054c4ac7848","parts":[{"part":"text","text":"The weather in Tokyo: 18°C, Cloudy, 65% humidity.","providerMetadata":{"adkStream":{"transcript":"output"}}}],"finish":"stop","metadata":{"usage":{"promptTokens":37,"completionTokens":13,"totalTokens":50},"modelVersion":"gemini-2.5-flash-native-audio-latest","audio":{"chunks":8,"bytes":138240,"sampleRate":24000,"duration":2.88}}},{"event":"session-noted","turn":"2a31c6dcbd0c4054c4ac7848","session":{"items":2,"last":"11076706809272979467","calls":[],"opened":"kept"}},{"event":"turn-ended","turn":"2a31c6dcbd0c4054c4ac7848","end":"finished"}]', 1794879383720);
INSERT INTO adk_stream.entry VALUES ('finished', 5, '2a31c6dcbd0c4054c4ac7848', 0, 'session-noted', 'finished', '[{"event":"session-noted","turn":"2a31c6dcbd0c4054c4ac7848","session":{"items":2,"last":"11076706809272979467","calls":[],"opened":"kept","handle":"handle-60fb3c64-13"}}]', 1794879383722);
INSERT INTO adk_stream.entry VALUES ('finished', 6, '6b332c0a5f91e92991eab111', 0, 'turn-opened', 'finished', '[{"event":"turn-opened","turn":"6b332c0a5f91e92991eab111","messageId":"msg_6b332c0a5f91e92991eab111","cause":{"cause":"message","message":{"id":"u2","role":"user","parts":[{"type":"text","text":"Hello"}]}},"after":"2a31c6dcbd0c4054c4ac7848"}]', 1794879383728);
INSERT INTO adk_stream.entry VALUES ('finished', 7, '6b332c0a5f91e92991eab111', 0, 'step-ended,session-noted,turn-ended', 'finished', '[{"event":"step-ended","turn":"6b332c0a5f91e92991eab111","parts":[{"part":"text","text":"You said: \"Hello\". I am the demo agent. I can book a flight, change the music, find out where you are, tell the weather, send money, set a mood and write a report. Try \"Book a flight to Oslo\".","providerMetadata":{"adkStream":{"transcript":"output"}}}],"finish":"stop","metadata":{"usage":{"promptTokens":52,"completionTokens":48,"totalTokens":100},"modelVersion":"gemini-2.5-flash-native-audio-latest","audio":{"chunks":39,"bytes":516480,"sampleRate":24000,"duration":10.76}}},{"event":"session-noted","turn":"6b332c0a5f91e92991eab111","session":{"items":4,"last":"9688539362781122367","calls":[],"opened":"kept"}},{"event":"turn-ended","turn":"6b332c0a5f91e92991eab111","end":"finished"}]', 1794879383844);
INSERT INTO adk_stream.entry VALUES ('finished', 8, '6b332c0a5f91e92991eab111', 0, 'session-noted', 'finished', '[{"event":"session-noted","turn":"6b332c0a5f91e92991eab111","session":{"items":4,"last":"9688539362781122367","calls":[],"opened":"kept","handle":"handle-60fb3c64-14"}}]', 1794879383848);
INSERT INTO adk_stream.entry VALUES ('spoken', 1, '5a858c210dc84f846eb8f67d', 0, 'chat-opened,turn-opened', 'spoken', '[{"event":"chat-opened","owner":"spoken"},{"event":"turn-opened","turn":"5a858c210dc84f846eb8f67d","messageId":"msg_5a858c210dc84f846eb8f67d","cause":{"cause":"message","message":{"id":"u1","role":"user","parts":[{"type":"data-speech","data":{}}]}}}]', 1794879383864);
INSERT INTO adk_stream.entry VALUES ('spoken', 2, '5a858c210dc84f846eb8f67d', 0, 'step-ended,session-noted,call-started', 'spoken', '[{"event":"step-ended","turn":"5a858c210dc84f846eb8f67d","parts":[{"part":"text","text":"What is the weather in Tokyo?","providerMetadata":{"adkStream":{"transcript":"input"}}},{"part":"call","id":"call_5a858c210dc84f846eb8f67d_0","providerId":"function-call-60fb3c64-17","tool":"get_weather","input":{"location":"Tokyo"},"place":"server"}],"finish":"stop","metadata":{"modelVersion":"gemini-2.5-flash-native-audio-latest"}},{"event":"session-noted","turn":"5a858c210dc84f846eb8f67d","session":{"items":1,"last":"9919713355300326144","calls":[{"tool":"get_weather","id":"function-call-60fb3c64-17"}],"opened":"seeded"}},{"event":"call-started","turn":"5a858c210dc84f846eb8f67d","call":"call_5a858c210dc84f846eb8f67d_0"}]', 1794879383873);
INSERT INTO adk_stream.entry VALUES ('spoken', 3, '5a858c210dc84f846eb8f67d', 0, 'call-settled', 'spoken', '[{"event":"call-settled","turn":"5a858c210dc84f846eb8f67d","call":"call_5a858c210dc84f846eb8f67d_0","outcome":"output","output":{"temperature":18,"condition":"Cloudy","humidity":65,"location":"Tokyo"}}]', 1794879383877);
INSERT INTO adk_stream.entry VALUES ('spoken', 4, '5a858c210dc84f846eb8f67d', 0, 'step-ended,session-noted,turn-ended', 'spoken', '[{"event":"step-ended","turn":"5a858c210dc84f846eb8f67d","parts":[{"part":"text","text":"The weather in Tokyo: 18°C, Cloudy, 65% humidity.","providerMetadata":{"adkStream":{"transcript":"output"}}}],"finish":"stop","metadata":{"usage":{"promptTokens":37,"completionTokens":13,"totalTokens":50},"modelVersion":"gemini-2.5-flash-native-audio-latest","audio":{"chunks":8,"bytes":138240,"sampleRate":24000,"duration":2.88}}},{"event":"session-noted","turn":"5a858c210dc84f846eb8f67d","session":{"items":2,"last":"10884619897711156045","calls":[],"opened":"kept"}},{"event":"turn-ended","turn":"5a858c210dc84f846eb8f67d","end":"finished"}]', 1794879383914);
INSERT INTO adk_stream.entry VALUES ('spoken', 5, '5a858c210dc84f846eb8f67d', 0, 'session-noted', 'spoken', '[{"event":"session-noted","turn":"5a858c210dc84f846eb8f67d","session":{"items":2,"last":"10884619897711156045","calls":[],"opened":"kept","handle":"handle-60fb3c64-18"}}]', 1794879383920);
INSERT INTO adk_stream.entry VALUES ('taken-back', 1, '5b1ea93e115caa8cd7fe382f', 0, 'chat-opened,turn-opened', 'taken-back', '[{"event":"chat-opened","owner":"taken-back"},{"event":"turn-opened","turn":"5b1ea93e115caa8cd7fe382f","messageId":"msg_5b1ea93e115caa8cd7fe382f","cause":{"cause":"message","message":{"id":"u1","role":"user","parts":[{"type":"text","text":"Send $20 to Sam, then take it back"}]}}}]', 1794879383926);
INSERT INTO adk_stream.entry VALUES ('taken-back', 2, '5b1ea93e115caa8cd7fe382f', 0, 'step-ended,session-noted,gate-opened', 'taken-back', '[{"event":"step-ended","turn":"5b1ea93e115caa8cd7fe382f","parts":[{"part":"call","id":"call_5b1ea93e115caa8cd7fe382f_0","providerId":"function-call-60fb3c64-21","tool":"process_payment","input":{"amount":20,"recipient":"Sam","currency":"USD"},"place":"server"}],"finish":"stop","metadata":{"modelVersion":"gemini-2.5-flash-native-audio-latest"}},{"event":"session-noted","turn":"5b1ea93e115caa8cd7fe382f","session":{"items":1,"last":"18089938454427648989","calls":[{"tool":"process_payment","id":"function-call-60fb3c64-21"}],"opened":"seeded"}},{"event":"gate-opened","turn":"5b1ea93e115caa8cd7fe382f","gate":{"id":"gate_5b1ea93e115caa8cd7fe382f_0","call":"call_5b1ea93e115caa8cd7fe382f_0","kind":{"kind":"approval","question":"Send 20 USD to Sam?"}}}]', 1794879383932);
INSERT INTO adk_stream.entry VALUES ('taken-back', 3, '5b1ea93e115caa8cd7fe382f', 0, 'gate-closed,call-settled', 'taken-back', '[{"event":"gate-closed","turn":"5b1ea93e115caa8cd7fe382f","gate":"gate_5b1ea93e115caa8cd7fe382f_0","decision":"cancelled"},{"event":"call-settled","turn":"5b1ea93e115caa8cd7fe382f","call":"call_5b1ea93e115caa8cd7fe382f_0","outcome":"error","error":"The model took the call back."}]', 1794879383985);
INSERT INTO adk_stream.entry VALUES ('taken-back', 4, '5b1ea93e115caa8cd7fe382f', 0, 'step-ended,session-noted,turn-ended', 'taken-back', '[{"event":"step-ended","turn":"5b1ea93e115caa8cd7fe382f","parts":[{"part":"text","text":"The payment of $20 to Sam failed: The model took the call back.","providerMetadata":{"adkStream":{"transcript":"output"}}}],"finish":"stop","metadata":{"usage":{"promptTokens":36,"completionTokens":16,"totalTokens":52},"modelVersion":"gemini-2.5-flash-native-audio-latest","audio":{"chunks":13,"bytes":169920,"sampleRate":24000,"duration":3.54}}},{"event":"session-noted","turn":"5b1ea93e115caa8cd7fe382f","session":{"items":2,"last":"4264466994070898660","calls":[],"opened":"seeded"}},{"event":"turn-ended","turn":"5b1ea93e115caa8cd7fe382f","end":"finished"}]', 1794879384024);
INSERT INTO adk_stream.entry VALUES ('taken-back', 5, '5b1ea93e115caa8cd7fe382f', 0, 'session-noted', 'taken-back', '[{"event":"session-noted","turn":"5b1ea93e115caa8cd7fe382f","session":{"items":2,"last":"4264466994070898660","calls":[],"opened":"seeded","handle":"handle-60fb3c64-25"}}]', 1794879384028);
INSERT INTO adk_stream.gate OVERRIDING SYSTEM VALUE VALUES (1, 'gate_2fef4fb04852425e8446538a_0', 'approval-open', '2fef4fb04852425e8446538a', 'approval-open', 'call_2fef4fb04852425e8446538a_0', '{"id":"gate_2fef4fb04852425e8446538a_0","call":"call_2fef4fb04852425e8446538a_0","kind":{"kind":"approval","question":"Send 20 USD to Sam?"}}', 1794879383589, NULL, NULL, NULL, NULL);
INSERT INTO adk_stream.gate OVERRIDING SYSTEM VALUE VALUES (2, 'gate_bbec28f7c9355a1817e582e8_0', 'approval-open-to-be-denied', 'bbec28f7c9355a1817e582e8', 'approval-open-to-be-denied', 'call_bbec28f7c9355a1817e582e8_0', '{"id":"gate_bbec28f7c9355a1817e582e8_0","call":"call_bbec28f7c9355a1817e582e8_0","kind":{"kind":"approval","question":"Send 20 USD to Sam?"}}', 1794879383614, NULL, NULL, NULL, NULL);
INSERT INTO adk_stream.gate OVERRIDING SYSTEM VALUE VALUES (3, 'gate_499973af8c4506c124cd70c7_0', 'page-call-open', '499973af8c4506c124cd70c7', 'page-call-open', 'call_499973af8c4506c124cd70c7_0', '{"id":"gate_499973af8c4506c124cd70c7_0","call":"call_499973af8c4506c124cd70c7_0","kind":{"kind":"client-call"}}', 1794879383639, NULL, NULL, NULL, NULL);
INSERT INTO adk_stream.gate OVERRIDING SYSTEM VALUE VALUES (4, 'gate_5b1ea93e115caa8cd7fe382f_0', 'taken-back', '5b1ea93e115caa8cd7fe382f', 'taken-back', 'call_5b1ea93e115caa8cd7fe382f_0', '{"id":"gate_5b1ea93e115caa8cd7fe382f_0","call":"call_5b1ea93e115caa8cd7fe382f_0","kind":{"kind":"approval","question":"Send 20 USD to Sam?"}}', 1794879383932, NULL, '{"decision":"cancelled"}', 'taken-back', 1794879383985);
INSERT INTO adk_stream.version VALUES (3);
SELECT pg_catalog.setval('adk_stream.chat_position_seq', 6, true);
SELECT pg_catalog.setval('adk_stream.gate_position_seq', 4, true);
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
