/** A page imports from the SDK and from here side by side. */
import * as ai from 'ai';
import { expect, test } from 'vitest';
import * as client from '../src/index.ts';

test('no name is one of the SDK’s own', () => {
  expect(Object.keys(client).filter(name => name in ai)).toEqual([]);
});
