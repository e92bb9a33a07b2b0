/**
 * Has Zod, by which the AI SDK checks what it is sent, interpret its schemas: compiling them takes
 * `eval`, which the page's content policy forbids. Imported before anything that makes a schema.
 */
import { config } from 'zod/v4/core';

config({ jitless: true });
