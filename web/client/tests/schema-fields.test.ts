import { expect, test } from 'vitest';
import { answerOf, fieldOf, leaves, presets } from '../src/react/schema-fields.ts';

const table = {
  type: 'object',
  properties: {
    date: { type: 'string', format: 'date', title: 'Date' },
    people: { type: 'integer', minimum: 1, default: 2 },
    where: { enum: ['inside', 'outside'] },
    quiet: { type: 'boolean' },
    budget: { type: ['number', 'null'] },
    contact: { $ref: '#/$defs/Contact' },
    tags: { type: 'array', items: { type: 'string' } },
  },
  required: ['date', 'people', 'budget', 'contact'],
  $defs: {
    Contact: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        phone: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      },
      required: ['name'],
    },
  },
};

test('a field is made for each property, with what it takes', () => {
  const fields = leaves(fieldOf(table));
  expect(fields.map(({ path, kind, isRequired }) => [path, kind, isRequired])).toEqual([
    ['/date', 'text', true],
    ['/people', 'integer', true],
    ['/where', 'choice', false],
    ['/quiet', 'boolean', false],
    ['/budget', 'number', false],
    ['/contact/name', 'text', true],
    ['/contact/phone', 'text', false],
    ['/tags', 'json', false],
  ]);
  expect(presets(fieldOf(table))).toEqual({ '/people': '2' });
});

test('the answer holds what was filled in', () => {
  const values = {
    '/date': '2026-12-24',
    '/people': '4',
    '/where': '1',
    '/contact/name': 'Ann',
    '/tags': '["a"]',
  };
  expect(answerOf(fieldOf(table), values)).toEqual({
    answer: {
      date: '2026-12-24',
      people: 4,
      where: 'outside',
      quiet: false,
      contact: { name: 'Ann' },
      tags: ['a'],
    },
  });
});

test('what is no value of its kind is named by its path', () => {
  const values = { '/people': '2.5', '/budget': 'much', '/tags': '[' };
  const read = answerOf(fieldOf(table), values);
  expect('bad' in read && [...read.bad]).toEqual([
    ['/people', 'integer'],
    ['/budget', 'number'],
    ['/tags', 'json'],
  ]);
  expect(answerOf(fieldOf({ type: 'integer' }), { '': '9007199254740993' })).toHaveProperty('bad');
});

test('a schema that is no object is one field, and one that is unknown is JSON', () => {
  expect(fieldOf({ type: 'string' })).toMatchObject({ path: '', kind: 'text' });
  expect(answerOf(fieldOf({ type: 'string' }), { '': 'yes' })).toEqual({ answer: 'yes' });
  expect(fieldOf({})).toMatchObject({ kind: 'json' });
  expect(fieldOf({ $ref: '#/$defs/Nothing' })).toMatchObject({ kind: 'json' });
  const loop = { $ref: '#' };
  expect(fieldOf(loop).kind).toBe('json');
});
