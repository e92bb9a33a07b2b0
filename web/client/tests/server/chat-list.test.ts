/** The list of a person's chats: searched, read page by page, named, archived and deleted. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from '../../../conformance/src/server/until.ts';
import { ApiError } from '../../src/api-error.ts';
import { type DurableChats, durableChats } from '../../src/durable-chats.ts';
import { chatsPage } from '../readme/chat-list.ts';
import { serve, Visitor } from './visitor.ts';

const server = serve();
let visitor: Visitor;
let chats: DurableChats;

beforeEach(async () => {
  visitor = await Visitor.come(server());
  const { headers, network } = visitor;
  chats = durableChats({ base: `${network.url}/api`, headers });
});

afterEach(() => visitor.leave());

async function begin(...titles: string[]): Promise<void> {
  for (const title of titles) {
    const id = title.replace(/[^a-z]+/g, '-');
    await visitor.chat(id).say(title);
  }
}

const titlesOf = (page: { chats: { title: string | null }[] }) =>
  page.chats.map(({ title }) => title);

test('is read page by page, newest first', async () => {
  await begin('list one', 'list two', 'list three');
  const first = await chats.list({ limit: 2 });
  expect(titlesOf(first)).toEqual(['list three', 'list two']);
  const rest = await chats.list({ limit: 2, cursor: first.nextCursor });
  expect(titlesOf(rest)).toEqual(['list one']);
  expect(rest.nextCursor).toBeUndefined();
});

test('is searched by the words of titles, as they are written', async () => {
  await begin('find a fish & chips', 'find a bird');
  expect(titlesOf(await chats.list({ search: 'FISH & c' }))).toEqual(['find a fish & chips']);
  expect(titlesOf(await chats.list({ search: '' }))).toHaveLength(2);
});

test('names a chat, and archives it', async () => {
  await begin('named later');
  const row = await chats.update('named-later', { title: 'A name' });
  expect(row).toMatchObject({ id: 'named-later', title: 'A name', archived: false });
  expect(await chats.update('named-later', { archived: true })).toMatchObject({ archived: true });
  expect(titlesOf(await chats.list({ archived: false }))).toEqual([]);
  expect(titlesOf(await chats.list({ archived: true }))).toEqual(['A name']);
  expect(titlesOf(await chats.list())).toEqual(['A name']);
});

test('forgets a chat that is deleted, once and again', async () => {
  await begin('to be deleted');
  await chats.remove('to-be-deleted');
  await chats.remove('to-be-deleted');
  expect(titlesOf(await chats.list())).toEqual([]);
  expect(await chats.load('to-be-deleted')).toBeUndefined();
});

test('of the README follows what others do', async () => {
  let shown: (string | null)[] = [];
  const leave = await chatsPage(chats).follow(rows => {
    shown = [...rows.values()].map(({ title }) => title);
  });
  await begin('followed');
  await until('the new chat is shown', () => shown.includes('followed'));
  await chats.update('followed', { title: 'Renamed' });
  await until('its new name is shown', () => shown.includes('Renamed'));
  await chats.remove('followed');
  await until('it is gone', () => shown.length === 0);
  leave();
});

test('fails with what the server says', async () => {
  await begin('too long a name');
  const change = chats.update('too-long-a-name', { title: 'x'.repeat(201) });
  await expect(change).rejects.toThrow(ApiError);
  await expect(chats.update('never-begun', { title: 'x' })).rejects.toMatchObject({ status: 404 });
});
