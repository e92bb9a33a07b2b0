import { scenarios } from './scenarios.ts';

scenarios(6, 'sse');
