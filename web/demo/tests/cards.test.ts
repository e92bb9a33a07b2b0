/** The page is built from the parts of the npm package. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from './server.ts';
import { startServer, Visitor, withBrowser } from './visitor.ts';

withBrowser();

test('cards, inbox and light are the parts of the package, with the looks of the page', async () => {
  const server = await startServer();
  const visitor = await Visitor.at(server.url);
  const { page } = visitor;
  await visitor.says('Send $20 to Sam');
  const card = page.locator('[role=log] .approval');
  await card.waitFor();
  await page.getByRole('button', { name: 'Inbox, 1 waiting' }).click();
  const inbox = page.locator('[data-part=inbox]');
  await inbox.locator('.approval').waitFor();
  expect(await page.locator('.approval:not([data-part=card])').count()).toBe(0);
  expect(await page.locator('.consent:not([data-part=approve])').count()).toBe(0);
  await page.locator('.light[data-part=connection][data-state=up]').waitFor();
});

test('the page has no card, form or consent button of its own', () => {
  const source = join(projectRoot, 'web/demo/src');
  const own = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.tsx'))
    .filter(file =>
      /data-consent|takeConsent|function ConsentButton/.test(
        readFileSync(join(source, file), 'utf8'),
      ),
    );
  expect(own).toEqual([]);
});
