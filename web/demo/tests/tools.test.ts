/** The tools that the page runs: music and the location. */
import { expect, test } from 'vitest';
import { startServer, Visitor, withBrowser } from './visitor.ts';

withBrowser();

const oslo = { latitude: 59.9139, longitude: 10.7522, accuracy: 25 };

test('plays music, stops it and starts it again', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;

  await visitor.says('Play track 1');
  await visitor.seesCards('change_bgm: done');
  await visitor.reads(/^Track 1 is playing/);
  await page.getByText('Playing track 1', { exact: true }).waitFor();

  await visitor.says('Play track 2');
  await page.getByText('Playing track 2', { exact: true }).waitFor();
  await visitor.seesCards('change_bgm: done', 2);

  await visitor.clicks('Stop music');
  await page.getByText('Track 2 is stopped', { exact: true }).waitFor();
  await visitor.clicks('Start music');
  await page.getByText('Playing track 2', { exact: true }).waitFor();
  expect(visitor.complaints).toEqual([]);
});

test('says that there is no such track', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);

  await visitor.says('Play track 7');
  await visitor.seesCards('change_bgm: failed');
  await visitor.reads(/There is no track 7\./);
  expect(visitor.complaints).toEqual([]);
});

test('plays what a tool of the server asks it to play', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);

  await visitor.says('Set the mood for London');
  await visitor.page.getByText('Playing track 2', { exact: true }).waitFor();
  await visitor.seesCards('change_bgm: done');
  await visitor.seesCards('set_mood: done');
  await visitor.reads(/mood of London is set/);
  expect(visitor.complaints).toEqual([]);
});

test('tells where it is, once approved', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url, { geolocation: oslo, permissions: ['geolocation'] });

  await visitor.says('Where am I?');
  await visitor.page.getByRole('heading', { name: 'Tell the assistant where you are?' }).waitFor();
  await visitor.clicks('Approve');
  await visitor.seesCards('get_location: done');
  await visitor.reads(/^You are at 59\.9139, 10\.7522/);
  expect(visitor.complaints).toEqual([]);
});

test('does not look where it is when denied', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url, { geolocation: oslo, permissions: ['geolocation'] });

  await visitor.says('Where am I?');
  await visitor.clicks('Deny');
  await visitor.seesCards('get_location: denied');
  await visitor.reads(/^You denied/);
  expect(visitor.complaints).toEqual([]);
});

test('says that the browser may not tell', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url, { permissions: [] });

  await visitor.says('Where am I?');
  await visitor.clicks('Approve');
  await visitor.seesCards('get_location: failed');
  await visitor.reads(/The browser was not allowed to say where it is\.$/);
  expect(visitor.complaints).toEqual([]);
});
