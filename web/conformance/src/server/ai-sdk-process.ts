/**
 * A route of the AI SDK's in a process of its own, which holds at a place that it is given, and then says that it has
 * come there: `POST /hold/PLACE`, `GET /held`.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answer, requested } from './ai-sdk-answer.ts';

/** Before it answers, after the first words of its text, or between a payment and its result. */
export type HoldPlace = 'request' | 'text' | 'tool';

const { EMULATOR: emulator = '', LEDGER: ledger = '', PORT: port = '0' } = process.env;

let holdsAt: HoldPlace | undefined;
let arrive = () => {};
let held = Promise.resolve();

function hold(place: HoldPlace): void {
  holdsAt = place;
  held = new Promise(resolve => {
    arrive = resolve;
  });
}

/** Goes on, or never. */
async function pass(place: HoldPlace): Promise<void> {
  if (holdsAt === place) {
    arrive();
    await new Promise(() => {});
  }
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const place = /^\/hold\/(\w+)$/.exec(request.url ?? '')?.[1] as HoldPlace | undefined;
  if (place !== undefined) {
    hold(place);
    response.end();
    return;
  }
  if (request.url === '/held') {
    await held;
    response.end();
    return;
  }
  const asked = await requested(request);
  if (asked === undefined) {
    response.writeHead(404).end();
    return;
  }
  await pass('request');
  holdText(response);
  const { major, body } = asked;
  const options = { emulator, ledger, paid: () => pass('tool') };
  await answer(request, response, { major, messages: body.messages }, options);
}

/** Says nothing more behind the first words. */
function holdText(response: ServerResponse): void {
  type Write = (piece: Buffer, done?: () => void) => boolean;
  const write = response.write.bind(response) as Write;
  let isHeld = false;
  response.write = (piece: Buffer | string) => {
    const bytes = Buffer.from(piece as Buffer);
    if (isHeld) {
      return true;
    }
    isHeld = holdsAt === 'text' && bytes.includes('"type":"text-delta"');
    return isHeld ? write(bytes, arrive) : write(bytes);
  };
}

const server = createServer((request, response) => {
  serve(request, response).catch((error: unknown) => response.destroy(error as Error));
});
server.listen(Number(port), '127.0.0.1');
await once(server, 'listening');
process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
